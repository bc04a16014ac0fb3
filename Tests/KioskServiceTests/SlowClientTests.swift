import ServiceCore
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService

/// Clients that are slow, send too much, or hold connections.
@Suite(.blocking) struct SlowClientTests {
  private var quick: ClientLimits {
    var limits = ClientLimits()
    limits.patience = .milliseconds(400)
    limits.lingering = .milliseconds(100)
    return limits
  }

  static let slow = [
    // A head that never ends.
    ("GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n", "X: a\r\n"),
    ("", "\r\n"),
    // Bodies that never end, which a route reads or not.
    ("GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000\r\n\r\n", "a"),
    (
      "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
      "1\r\na\r\n"
    ),
    ("PUT /api/v1/regions/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n", "a"),
    ("PUT /api/v1/regions/a HTTP/1.1\r\nHost: evil\r\nContent-Length: 9999\r\n\r\n", "a"),
  ]

  @Test(arguments: slow) func aRequestEndsInTimeOrIsRefused(begin: String, drop: String)
    async throws
  {
    try await RunningServer.run(quick) { server in
      let client = try server.connect()
      client.send(begin)
      #expect(await eventually { !client.send(drop) || client.hasEnded }, "a slow request goes on")
    }
  }

  @Test func aSlowRequestIsToldWhy() async throws {
    try await RunningServer.run(quick) { server in
      let client = try server.connect()
      client.send("GET /api/v1/health HTTP/1.1\r\nHost: loc")
      #expect(try client.answer().status == 408)
      #expect(try client.rest() == "")
      // A connection without a request is closed without a word.
      #expect(try server.connect().rest() == "")
    }
  }

  @Test func anAnswerIsTakenInTime() async throws {
    try await RunningServer.run(quick) { server in
      let client = try RawClient(port: server.port, hasSmallWindow: true)
      // More than the kernel keeps: nothing of it is read.
      var count = 0
      while client.request("GET", "/page.js"), count < 10_000 { count += 1 }
      #expect(await eventually { !client.send("x") }, "a client that reads nothing stays")
    }
  }

  static let long = [
    "Content-Length: 16385\r\n\r\n", "Content-Length: 10000000000\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n4000\r\n\(String(repeating: "a", count: 0x4000))\r\n1\r\na\r\n",
    "Transfer-Encoding: chunked\r\n\r\n"
      + String(repeating: "1;\(String(repeating: "a", count: 1000))\r\na\r\n", count: 400),
  ]

  @Test(arguments: ["GET /", "HEAD /", "PUT /api/v1/regions/a", "POST /none"], long)
  func aBodyHasABound(request: String, rest: String) async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.send("\(request) HTTP/1.1\r\nHost: localhost\r\n\(rest)")
      let answer = try client.answer(toHead: request.hasPrefix("HEAD"))
      #expect(answer.status == 413)
      #expect(answer.fields["connection"] == "close")
      #expect(try client.rest() == "")
    }
  }

  @Test func anEndlessBodyIsNotTaken() async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.request("GET", "/api/v1/health", "Transfer-Encoding: chunked\r\n")
      let chunk = "10000\r\n\(String(repeating: "a", count: 0x10000))\r\n"
      var count = 0
      while client.send(chunk), count < 10_000 { count += 1 }
      #expect(count < 1000, "\(count) chunks of 64 KiB were taken")
    }
  }

  @Test func clientsThatHoldAllConnectionsKeepNobodyOut() async throws {
    var limits = ClientLimits()
    limits.connections = 8
    try await RunningServer.run(limits) { server in
      var slow: [RawClient] = []
      for index in 0..<100 {
        let client = try server.connect()
        // Some send nothing at all, some half a head, and some half a body.
        let texts = [
          "", "GET / HTTP/1.1\r\nHost: loc",
          "PUT /api/v1/regions/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\na",
        ]
        client.send(texts[index % 3])
        slow.append(client)
        let other = try server.connect()
        other.request("GET", "/api/v1/health")
        #expect(try other.answer().status == 200)
      }
      #expect(slow.filter { !$0.hasEnded }.count <= limits.connections)
    }
  }

  @Test func connectionsAtWorkAreNotClosedForNewOnes() async throws {
    var limits = ClientLimits()
    limits.connections = 3
    try await RunningServer.run(limits) { server in
      let streams = try (0..<2).map { _ in try server.connect() }
      for stream in streams {
        stream.request("GET", "/api/v1/events")
        #expect(try stream.answer().status == 200)
      }
      for _ in 0..<20 {
        let other = try server.connect()
        other.request("GET", "/api/v1/health")
        #expect(try other.answer().status == 200)
      }
      #expect(streams.allSatisfy { !$0.hasEnded })
      // With all at work, a further client waits until one ends.
      let last = try server.connect()
      last.request("GET", "/api/v1/events")
      #expect(try last.answer().status == 200)
      let waiting = try server.connect()
      waiting.request("GET", "/api/v1/health")
      server.hub.waiters.close()
      #expect(try waiting.answer().status == 200)
    }
  }

  @Test func aConnectionServesOneRequestAfterAnother() async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      for _ in 0..<10 {
        client.request("PUT", "/api/v1/regions/a", "Content-Length: 2\r\n")
        client.send("{}")
        #expect(try client.answer().status == 403)
      }
      // Several at once are answered in their order, and one that is refused after them.
      client.send(
        String(repeating: "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 50)
          + "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n")
      for _ in 0..<50 { #expect(try client.answer().status == 200) }
      #expect(try client.answer().status == 413)
      #expect(try client.rest() == "")
    }
  }

  /// Requests that a stream holds back would be kept without a bound.
  @Test func aRequestDuringAStreamEndsTheConnection() async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(
        await eventually { !client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") },
        "a stream goes on under other requests")
    }
  }

  @Test(arguments: ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"])
  func theLastRequestOfAConnectionIsTheLast(words: String) async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.send("GET /api/v1/health \(words)\r\nHost: localhost\r\n\r\n")
      client.request("GET", "/api/v1/health")
      #expect(try client.answer().status == 200)
      #expect(try client.rest() == "")
    }
  }
}
