package import HTTPTypes
package import Records

/// The access rules, which every request must meet before it reaches a route.
///
/// A page of another origin makes requests in its user's name, but cannot choose their `Host`,
/// `Origin` or `Sec-Fetch-Site`, so these decide. `Host` also reveals a foreign name that resolves
/// to this machine.
package struct AccessRules: Sendable {
  /// The valid host names of the service, in lower case and without a port.
  package var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
  /// Other origins whose pages may read, such as `http://localhost:3000`.
  package var origins: Set<String> = []
  /// The secret that permits changes, or `nil` to refuse all changes over HTTP.
  package var token: [UInt8]?
  /// The paths whose reading always needs the token.
  package var protectedPaths: Set<String> = []
  /// The paths whose reading never needs it, such as a page's files.
  package var openPaths: Set<String> = []
  /// Whether reading needs the token too, since other machines can reach the service.
  package var isTokenNeededToRead = false

  package init() {}

  func check(_ request: Request) throws(HTTPRefusal) {
    try checkHost(request)
    try checkOrigin(request)
    let isChange = request.method != .get && request.method != .head && request.method != .options
    let isProtected =
      isChange || protectedPaths.contains(request.path)
      || isTokenNeededToRead && !openPaths.contains(request.path)
    guard isProtected, request.method != .options else { return }
    guard let token else {
      throw HTTPRefusal(
        .forbidden,
        "this needs a token; start the service with --token-file FILE")
    }
    guard let given = givenToken(request, isChange: isChange) else {
      throw HTTPRefusal(
        .unauthorized, "a token is needed; send it as 'Authorization: Bearer TOKEN'",
        [.wwwAuthenticate: "Bearer"])
    }
    guard isEqual(Array(given.utf8), token) else {
      throw HTTPRefusal(.unauthorized, "the token is wrong", [.wwwAuthenticate: "Bearer"])
    }
  }

  private func checkHost(_ request: Request) throws(HTTPRefusal) {
    guard let authority = request.head.authority, let host = Self.host(of: authority) else {
      throw HTTPRefusal(.badRequest, "the request has no valid Host")
    }
    guard hosts.contains(host) else {
      throw HTTPRefusal(
        .misdirectedRequest,
        "this service is not '\(host)'; address it as \(hosts.sorted().joined(separator: ", "))"
      )
    }
  }

  private func checkOrigin(_ request: Request) throws(HTTPRefusal) {
    if let origin = request.headers[.origin] {
      let own = "http://\(request.head.authority ?? "")"
      guard origin == own || origins.contains(origin) else {
        throw HTTPRefusal(
          .forbidden,
          "pages of '\(origin.prefix(200))' may not use this service; allow them by --allow-origin"
        )
      }
      return
    }
    // A page of another site may load a resource without an Origin, as an image, a script or a
    // frame. Only following a link to the page is allowed.
    if let site = request.headers[.secFetchSite], site == "cross-site" || site == "same-site" {
      let isVisit =
        request.headers[.secFetchMode] == "navigate" && request.headers[.secFetchDest] == "document"
        && request.method == .get
      guard isVisit else {
        throw HTTPRefusal(.forbidden, "pages of other sites may not use this service")
      }
    }
  }

  /// Returns the host of an authority without its port, or `nil` if it is not valid.
  private static func host(of authority: String) -> String? {
    guard authority.utf8.count <= 255 else { return nil }
    let host: Substring
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = authority[...end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
    } else {
      let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      host = parts[0]
      if parts.count > 1 {
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      }
    }
    return host.isEmpty ? nil : host.lowercased()
  }

  /// Returns the token from the header or, for reading, from the URL, since event streams of a page
  /// cannot set headers (RFC 6750, section 2.3).
  private func givenToken(_ request: Request, isChange: Bool) -> String? {
    if let header = request.headers[.authorization] {
      let words = header.split(separator: " ", maxSplits: 1)
      return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }
    return isChange ? nil : request.query["access_token"]
  }

  /// Compares in a time that does not depend on the position of a difference.
  private func isEqual(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
    var difference = given.count ^ secret.count
    for (index, byte) in given.enumerated() {
      difference |= Int(byte ^ secret[index % max(1, secret.count)])
    }
    return difference == 0 && !secret.isEmpty
  }
}

extension HTTPField.Name {
  static let secFetchSite = named("Sec-Fetch-Site")
  static let secFetchMode = named("Sec-Fetch-Mode")
  static let secFetchDest = named("Sec-Fetch-Dest")
  package static let lastEventID = named("Last-Event-ID")
  static let contentTypeOptions = named("X-Content-Type-Options")
  static let referrerPolicy = named("Referrer-Policy")
  static let frameOptions = named("X-Frame-Options")
  static let resourcePolicy = named("Cross-Origin-Resource-Policy")

  private static func named(_ name: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(name) else { preconditionFailure("'\(name)' is not a token") }
    return name
  }
}

package struct HTTPRefusal: Error {
  package var status: HTTPResponse.Status
  package var sentence: String
  package var headers: HTTPFields

  package init(_ status: HTTPResponse.Status, _ sentence: String, _ headers: HTTPFields = [:]) {
    self.status = status
    self.sentence = sentence
    self.headers = headers
  }
}

extension AccessRules {
  func complete(_ headers: inout HTTPFields, origin: String?) {
    headers[.contentTypeOptions] = "nosniff"
    headers[.referrerPolicy] = "no-referrer"
    headers[.resourcePolicy] = origins.isEmpty ? "same-origin" : "cross-origin"
    headers[.frameOptions] = "SAMEORIGIN"
    headers[.contentSecurityPolicy] =
      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
    if let origin, origins.contains(origin) {
      headers[.accessControlAllowOrigin] = origin
      headers[.vary] = "Origin"
    }
  }
}

extension HTTPRefusal {
  var body: [UInt8] { Self.record.json(self) }

  package static let record = RecordType<HTTPRefusal>(
    nil, named: "problem", summary: "What is wrong with a request (RFC 9457).",
    [
      Field("status", .integer(400...599)) { $0.status.code },
      Field("title", .text) { $0.status.reasonPhrase },
      Field("detail", .text) { $0.sentence },
    ])
}

extension Response {
  package static func problem(_ refusal: HTTPRefusal) -> Response {
    var headers = refusal.headers
    headers[.contentType] = "application/problem+json"
    return Response(
      status: refusal.status, headers: headers, body: .bytes(refusal.body))
  }

  package static func json(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json"], body: .bytes(json))
  }
}
