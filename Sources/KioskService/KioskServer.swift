import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import Synchronization
import SystemPackage

/// HTTP for a ``KioskHub``: one thread, with bounds on connections, on what a request may have, and on how slow a
/// client may be.
package final class KioskServer: Sendable {
  /// Where the service listens.
  package enum Address: Sendable, Equatable {
    case host(String, port: Int)
    /// A socket in the file system.
    case unix(path: String)
    /// A socket that the service manager has opened: it listens already.
    case inherited(descriptor: CInt)
  }

  /// The connections that are open at most; further ones wait.
  package static let maximumConnections = 512
  /// The seconds in which a client must have sent its request, and for which a connection may rest.
  static let idleSeconds: Int64 = 30
  /// The seconds for which a client may take nothing of what it is sent.
  static let stallSeconds: Int64 = 30

  /// What the service could not do.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let hub: KioskHub
  private let rules: AccessRules
  private let control: any KioskControl
  private let logger: Logger
  private let counts = RequestCounts()

  package init(_ hub: KioskHub, control: any KioskControl, rules: AccessRules, logger: Logger) {
    (self.hub, self.control, self.rules, self.logger) = (hub, control, rules, logger)
  }

  /// Serves until the task is canceled: then connections are closed at once. The closure `onReady` gets the port that is
  /// listened on, if any.
  @concurrent package func run(
    on addresses: [Address], onReady: @Sendable ([Int?]) -> Void
  ) async throws(Failure) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      try await serve(addresses, on: group, onReady: onReady)
      try? await group.shutdownGracefully()
    } catch {
      try? await group.shutdownGracefully()
      throw error as? Failure ?? Failure(description: "\(error)")
    }
  }

  /// Ends the event streams, and waits until their clients have been sent all of them, the end too. A client that takes
  /// nothing delays this by the limit at most.
  @concurrent package func endStreams(limit: Duration = .milliseconds(500)) async {
    hub.feed.close()
    let end = ContinuousClock.now + limit
    while counts.openStreams > 0, ContinuousClock.now < end {
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  private typealias Child = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  private func serve(
    _ addresses: [Address], on group: MultiThreadedEventLoopGroup,
    onReady: @Sendable ([Int?]) -> Void
  ) async throws {
    let http = channel()
    var listeners: [NIOAsyncChannel<Child, Never>] = []
    for address in addresses { listeners.append(try await listen(address, group, http)) }
    onReady(listeners.map { $0.channel.localAddress?.port })
    let logger = logger
    await withDiscardingTaskGroup { tasks in
      for listener in listeners {
        tasks.addTask {
          await withDiscardingTaskGroup { connections in
            try? await listener.executeThenClose { inbound in
              for try await child in inbound {
                connections.addTask { await http.handle(value: child, logger: logger) }
              }
            }
            connections.cancelAll()
          }
        }
      }
    }
  }

  private func listen(
    _ address: Address, _ group: MultiThreadedEventLoopGroup, _ http: HTTP1Channel
  ) async throws(Failure) -> NIOAsyncChannel<Child, Never> {
    let logger = logger
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AvailableConnectionsChannelHandler(maxConnections: Self.maximumConnections))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: 32 << 10, high: 64 << 10))
    @Sendable func setUp(_ child: any Channel) -> EventLoopFuture<Child> {
      http.setup(channel: child, logger: logger)
    }
    do {
      switch address {
      case .host(let host, let port):
        return try await bootstrap.bind(
          host: host, port: port, serverBackPressureStrategy: nil, childChannelInitializer: setUp)
      case .unix(let path):
        return try await bootstrap.bind(
          unixDomainSocketPath: path, cleanupExistingSocketFile: true,
          serverBackPressureStrategy: nil, childChannelInitializer: setUp)
      case .inherited(let descriptor):
        return try await bootstrap.bind(
          descriptor, cleanupExistingSocketFile: false, serverBackPressureStrategy: nil,
          childChannelInitializer: setUp)
      }
    } catch {
      throw Failure(description: Self.sentence(of: error, at: address))
    }
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
      case .addressNotAvailable: "the machine has no such address"
      default: "\(Errno(rawValue: error.errnoCode))"
      }
    return "cannot listen on \(place): \(remedy)"
  }

  /// Returns what makes HTTP of a connection.
  private func channel() -> HTTP1Channel {
    let routes = Routes(hub: hub, control: control, counts: counts, rules: rules)
    return HTTP1Channel(
      responder: { request, writer, _ in
        let response = await routes.respond(to: request)
        try await writer.write(response: response.head, body: response.body)
      },
      configuration: .init(
        additionalChannelHandlers: [StalledClientHandler(), HeaderLimitHandler()],
        idleTimeout: .seconds(Self.idleSeconds),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 8 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)))
  }
}

/// Closes a connection whose client has taken nothing of what it was sent for a while.
private final class StalledClientHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart

  private var closing: Scheduled<Void>?

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    if !context.channel.isWritable {
      let channel = context.channel
      closing = context.eventLoop.scheduleTask(in: .seconds(KioskServer.stallSeconds)) {
        channel.close(promise: nil)
      }
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    closing?.cancel()
    closing = nil
    context.fireChannelInactive()
  }
}

/// Answers a request whose header is too long (RFC 6585, section 5), which is otherwise a bad request.
private final class HeaderLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError, error == .headerOverflow else {
      return context.fireErrorCaught(error)
    }
    let head = HTTPResponse(
      status: .requestHeaderFieldsTooLarge,
      headerFields: [.connection: "close", .contentLength: "0"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.close(promise: nil)
  }
}
