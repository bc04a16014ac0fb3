import HTTPTypes
import Synchronization

/// The answers by their status, and the open event streams.
package final class RequestCounts: Sendable {
  /// The most event streams that are open at a time.
  static let maximumStreams = 256

  private let answers = Mutex<[Int: Int]>([:])
  private let streams = Atomic<Int>(0)

  package init() {}

  func count(_ status: HTTPResponse.Status) {
    answers.withLock { $0[status.code, default: 0] += 1 }
  }

  package var byStatus: [(status: Int, count: Int)] {
    answers.withLock { $0.sorted { $0.key < $1.key }.map { (status: $0.key, count: $0.value) } }
  }

  package var openStreams: Int { streams.load(ordering: .relaxed) }

  /// Returns the response with an event stream, which counts until its end.
  package func stream(
    _ write: @escaping @Sendable (Response.Writer) async throws -> Void
  ) throws(HTTPRefusal) -> Response {
    guard openStream() else {
      throw HTTPRefusal(
        .serviceUnavailable,
        "\(Self.maximumStreams) event streams are open, which is the limit; close some",
        [.retryAfter: "10"])
    }
    let counter = StreamCounter(self)
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: .stream { writer in
        defer { withExtendedLifetime(counter) {} }
        try await write(writer)
      })
  }

  private func openStream() -> Bool {
    guard streams.add(1, ordering: .relaxed).newValue <= Self.maximumStreams else {
      closeStream()
      return false
    }
    return true
  }

  fileprivate func closeStream() { streams.subtract(1, ordering: .relaxed) }
}

/// Counts the end of a stream once, even if its body is never written.
private final class StreamCounter: Sendable {
  private let counts: RequestCounts
  init(_ counts: RequestCounts) { self.counts = counts }
  deinit { counts.closeStream() }
}
