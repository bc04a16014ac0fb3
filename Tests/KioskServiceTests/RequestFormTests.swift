import TestSupport
import Testing

@testable import KioskService

/// What a request and its answer look like.
@Suite(.blocking) struct RequestFormTests {
  static let paths = [
    "/", "/page.js", "/metrics", "/none", "/api/v1/health", "/api/v1/regions", "/api/v1/beacons",
    "/api/v1/regions/none", "/api/v1/history?limit=0", "/api/v1/openapi.json",
  ]

  @Test(arguments: paths) func anAnswerToHEADHasNoBody(path: String) async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.request("HEAD", path)
      let head = try client.answer(toHead: true)
      // The connection goes on: a byte of a body would be the next answer's first.
      client.request("GET", path)
      let get = try client.answer()
      #expect(head.status == get.status)
      #expect(!get.body.isEmpty)
      // Those two have counters.
      if path != "/metrics", path != "/api/v1/health" {
        #expect(head.fields == get.fields)
        #expect(head.fields["content-length"] == String(get.body.utf8.count))
      }
    }
  }

  @Test func anAnswerToHEADHasNoBodyWhereItIsRefused() async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      // A stream, whose chunks have an end of their own.
      client.request("HEAD", "/api/v1/events")
      #expect(try client.answer(toHead: true).fields["content-type"] == "text/event-stream")
      // Another host, another origin.
      client.send("HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
      #expect(try client.answer(toHead: true).status == 421)
      client.request("HEAD", "/", "Origin: http://evil.example\r\n")
      #expect(try client.answer(toHead: true).status == 403)
      client.request("GET", "/api/v1/health")
      #expect(try client.answer().status == 200)
      // A wrong form, which ends the connection.
      client.send("HEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
      let last = try client.answer(toHead: true)
      #expect(last.status == 400)
      #expect(last.fields["content-length"] != "0")
      #expect(try client.rest() == "")
    }
  }

  static let forms = [
    // RFC 9112, section 3.2: one Host.
    (400, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\n\r\n"),
    // Section 3.2.2: the authority of the target is the host, whatever Host is.
    (421, "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (421, "GET http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (
      421, "GET http://localhost.evil.example?http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ),
    (400, "GET http:///api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (400, "GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (400, "GET localhost HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (400, "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (200, "GET http://LOCALHOST/api/v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    (200, "GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (200, "GET HTTP://localhost?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    // Sections 6.1 and 6.3: the end of a body is that of its chunks.
    (400, "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n"),
    (400, "GET / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    (501, "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    (
      400,
      "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"
    ),
    (
      200,
      "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
    ),
    (400, "nothing\r\n\r\n"),
    (
      431, "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 20000))\r\n\r\n"
    ),
  ]

  @Test(arguments: forms) func aRequestHasOneMeaning(status: Int, request: String) async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.send(request)
      let answer = try client.answer()
      #expect(answer.status == status)
      if status != 200 {
        #expect(answer.fields["content-type"] == "application/problem+json")
        #expect(answer.body.contains("\"status\":\(status)"))
        #expect(answer.fields["x-content-type-options"] == "nosniff")
      }
    }
  }
}
