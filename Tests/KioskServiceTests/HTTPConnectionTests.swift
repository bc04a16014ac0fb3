import Dispatch
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService

@Suite struct HTTPConnectionTests {
  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
    let isHeld = Atomic<Bool>(false)
  }

  /// A connection that was accepted and that no task has yet would trap.
  @Test func endsWhileClientsConnect() async throws {
    for _ in 0..<50 {
      var clients: [RawClient] = []
      try await RunningServer.run { server in
        for _ in 0..<20 { clients.append(try server.connect()) }
      }
      withExtendedLifetime(clients) {}
    }
  }

  @Test func closesItsListenersIfItCannotHaveAll() async throws {
    let server = HTTPServer(NoRoutes(), rules: AccessRules(), counts: RequestCounts())
    await #expect(throws: ServiceFailure.self) {
      try await server.run(on: [.host("127.0.0.1", port: 0), .unix(path: "/nowhere/socket")]) { _ in
      }
    }
  }

  private struct NoRoutes: HTTPRoutes {
    func route(_ request: Request) async throws(HTTPRefusal) -> Response {
      throw HTTPRefusal(.notFound, "none")
    }
    func endStreams() {}
  }

  /// An event loop that gets no processor time, as on a loaded machine, has not noticed yet that the socket takes nothing.
  @Test func aStreamWaitsForItsEventLoop() async throws {
    let channel = NIOAsyncTestingChannel()
    let loop = channel.testingEventLoop
    let wrapped = try await loop.executeInContext {
      try HTTPConnection.Channel(wrappingChannelSynchronously: channel)
    }
    let connection = HTTPConnection(channel: wrapped)
    let written = Counter()
    let release = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup { tasks in
      tasks.addTask {
        await connection.respond { _ in
          Response(
            status: .ok,
            body: .stream { writer in
              loop.execute {
                written.isHeld.store(true, ordering: .releasing)
                release.wait()
              }
              while !written.isHeld.load(ordering: .acquiring) {
                try await Task.sleep(for: .milliseconds(1))
              }
              for _ in 0..<1000 {
                try await writer(Array("data: 0\n\n".utf8))
                written.count.add(1, ordering: .relaxed)
              }
            })
        }
      }
      try await channel.writeInbound(
        HTTPServerRequestPart.head(
          HTTPRequestHead(version: .http1_1, method: .GET, uri: "/api/v1/events")))
      try await channel.writeInbound(HTTPServerRequestPart.end(nil))
      for _ in 0..<100 where written.count.load(ordering: .relaxed) < 1000 {
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(written.count.load(ordering: .relaxed) <= 1)
      release.signal()
      tasks.cancelAll()
      _ = try? await channel.finish()
    }
  }
}
