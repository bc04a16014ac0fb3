import HTTPTypes
import NIOHTTP1

extension HTTPRequestHead {
  /// Changes a request for `http://NAME/PATH` to one for `/PATH` on the host NAME (RFC 9112,
  /// section 3.2.2), so that one rule covers both. Returns a refusal if the request is ambiguous: a
  /// proxy might read it differently.
  mutating func makeOriginForm() -> HTTPRefusal? {
    guard headers["Host"].count <= 1 else {
      return HTTPRefusal(.badRequest, "the request has several Hosts")
    }
    if uri.lowercased().hasPrefix("http://") {
      let rest = uri.dropFirst("http://".count)
      let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
      headers.replaceOrAdd(name: "Host", value: String(rest[..<end]))
      uri = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
    }
    guard uri.hasPrefix("/") || uri == "*" && method == .OPTIONS else {
      return HTTPRefusal(
        .badRequest, "the request's target is not a path; write one such as /api/v1/health")
    }
    return checkTransferEncoding()
  }

  private func checkTransferEncoding() -> HTTPRefusal? {
    guard headers.contains(name: "Transfer-Encoding") else { return nil }
    let codings = headers["Transfer-Encoding"].joined(separator: ",").lowercased()
      .split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " || $0 == "\t" } }
    guard version == .http1_1, codings.last == "chunked" else {
      return HTTPRefusal(
        .badRequest, "the end of the body cannot be found; send it with Transfer-Encoding: chunked")
    }
    return codings.count == 1
      ? nil : HTTPRefusal(.notImplemented, "bodies cannot be decoded but from chunks")
  }
}
