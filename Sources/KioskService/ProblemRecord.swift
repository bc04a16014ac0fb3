import Records

/// An error response (RFC 9457).
struct ProblemRecord: Sendable {
  var status: Int
  var title: String
  var detail: String

  static let record = RecordType<ProblemRecord>(
    nil, named: "problem", summary: "What is wrong with a request (RFC 9457).",
    [
      Field("status", .integer(400...599)) { $0.status },
      Field("title", .text) { $0.title },
      Field("detail", .text) { $0.detail },
    ])
}
