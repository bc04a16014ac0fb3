import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import SystemPackage

/// The paths of a server. The server checks the access to them, counts their answers, and completes
/// these with the fields that all have.
package protocol HTTPRoutes: Sendable {
  func route(_ request: Request) async throws(HTTPRefusal) -> Response

  /// Ends the event streams after what they have to send.
  func endStreams()
}

/// An HTTP server. It uses one thread.
package final class HTTPServer: Sendable {
  package enum Address: Sendable, Equatable {
    case host(String, port: Int)
    case unix(path: String)
    case inherited(descriptor: CInt)
  }

  private let routes: any HTTPRoutes
  private let rules: AccessRules
  private let limits: ClientLimits
  private let counts: RequestCounts

  /// Creates a server. The routes open their event streams by the same counts.
  package init(
    _ routes: any HTTPRoutes, rules: AccessRules, counts: RequestCounts,
    limits: ClientLimits = ClientLimits()
  ) {
    self.routes = routes
    self.rules = rules
    self.counts = counts
    self.limits = limits
  }

  /// Serves until the task is canceled, which closes all connections. `onReady` receives the port
  /// of each address, or `nil` if it has none.
  @concurrent package func run(
    on addresses: [Address], onReady: @Sendable ([Int?]) -> Void
  ) async throws(ServiceFailure) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      try await serve(addresses, on: group, onReady: onReady)
      try? await group.shutdownGracefully()
    } catch {
      try? await group.shutdownGracefully()
      throw error as? ServiceFailure ?? ServiceFailure(.unavailable, "\(error)")
    }
  }

  /// Ends the event streams. Waits up to the limit for their clients to receive everything.
  @concurrent package func endStreams(limit: Duration = .milliseconds(500)) async {
    routes.endStreams()
    let end = ContinuousClock.now + limit
    while counts.openStreams > 0, ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private typealias Listener = NIOAsyncChannel<any Channel, Never>

  private func serve(
    _ addresses: [Address], on group: MultiThreadedEventLoopGroup,
    onReady: @Sendable ([Int?]) -> Void
  ) async throws {
    let connections = OpenConnections(limit: limits.connections)
    var listeners: [Listener] = []
    var files: [SocketFile] = []
    defer { for file in files { file.remove() } }
    do {
      for address in addresses {
        let listener = try await listen(address, group, connections)
        connections.add(listener.channel)
        listeners.append(listener)
        if case .unix(let path) = address { files.append(try SocketFile(path: path)) }
      }
    } catch {
      for listener in listeners { try? await listener.executeThenClose { _ in } }
      throw error
    }
    onReady(listeners.map { $0.channel.localAddress?.port })
    await withDiscardingTaskGroup { tasks in
      for listener in listeners {
        tasks.addTask {
          await withDiscardingTaskGroup { connections in
            try? await listener.executeThenClose { inbound in
              for try await channel in inbound {
                connections.addTask {
                  await HTTPConnection(to: channel)?.respond { await self.respond(to: $0) }
                }
              }
            }
            connections.cancelAll()
          }
        }
      }
    }
  }

  private func listen(
    _ address: Address, _ group: MultiThreadedEventLoopGroup, _ connections: OpenConnections
  ) async throws(ServiceFailure) -> Listener {
    let limits = limits
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      // Each connection first needs room, so only one is accepted at a time.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      // Nothing is read before the connection has a task.
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: 32 << 10, high: 64 << 10))
    @Sendable func setUp(_ child: any Channel) -> EventLoopFuture<any Channel> {
      child.eventLoop.makeCompletedFuture {
        try Self.setUp(child, RequestReader(limits, connections, answer: self.refuse))
        return child
      }
    }
    do {
      switch address {
      case .host(let host, let port):
        return try await bootstrap.bind(
          host: host, port: port, serverBackPressureStrategy: nil, childChannelInitializer: setUp)
      case .unix(let path):
        try await SocketFile.makeRoom(at: path, on: group)
        return try await bootstrap.bind(
          unixDomainSocketPath: path, cleanupExistingSocketFile: false,
          serverBackPressureStrategy: nil, childChannelInitializer: setUp)
      case .inherited(let descriptor):
        return try await bootstrap.bind(
          descriptor, cleanupExistingSocketFile: false, serverBackPressureStrategy: nil,
          childChannelInitializer: setUp)
      }
    } catch {
      throw error as? ServiceFailure
        ?? ServiceFailure(.unavailable, Self.sentence(of: error, at: address))
    }
  }

  private func respond(to request: Request) async -> Response {
    var response: Response
    do throws(HTTPRefusal) {
      try rules.check(request)
      response = try await routes.route(request)
    } catch {
      response = .problem(error)
    }
    rules.complete(&response.headers, origin: request.headers[.origin])
    counts.count(response.status)
    return response
  }

  /// Returns the response to an invalid or incomplete request, the last of its connection.
  private func refuse(_ refusal: HTTPRefusal) -> (head: HTTPResponseHead, body: [UInt8]) {
    var response = Response.problem(refusal)
    response.headers[.connection] = "close"
    rules.complete(&response.headers, origin: nil)
    counts.count(response.status)
    return (response.head, refusal.body)
  }

  private static func sentence(of error: any Error, at address: Address) -> String {
    let place =
      switch address {
      case .host(let host, let port): "\(host):\(port)"
      case .unix(let path): path
      case .inherited(let descriptor): "the inherited socket \(descriptor)"
      }
    guard let error = error as? IOError else { return "cannot listen on \(place): \(error)" }
    let remedy =
      switch Errno(rawValue: error.errnoCode) {
      case .addressInUse: "another program listens there; stop it, or choose another --listen"
      case .permissionDenied: "there is no permission; choose a port from 1024 on, or another path"
      case .addressNotAvailable: "the machine has no such address; choose another --listen"
      case .noSuchFileOrDirectory, .notDirectory:
        "its folder does not exist; make it, or choose another path"
      case let error: "\(error); choose another --listen"
      }
    return "cannot listen on \(place): \(remedy)"
  }

  private static func setUp(_ child: any Channel, _ reader: RequestReader) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 8 << 10
    limits.maxHeaderListSize = 16 << 10
    limits.maxHeaderFieldCount = 100
    let pipeline = child.pipeline.syncOperations
    try pipeline.addHandler(ByteCounter(reader))
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false,
      withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(reader)
  }
}
