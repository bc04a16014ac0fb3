import Foundation
import Synchronization
package import TestSupport
package import Testing

extension Trait where Self == RabbitMQTests {
  /// Tests that need an AMQP broker are skipped where none is installed, and run one after the other.
  package static var rabbitmq: Self { RabbitMQTests() }
}

/// Runs tests with a node each one at a time: a node takes much of a small machine, and other tests would wait too long.
package struct RabbitMQTests: SuiteTrait, TestTrait, TestScoping {
  /// A suite hands it on to its tests.
  package var isRecursive: Bool { true }

  package func prepare(for test: Test) async throws {
    try await ConditionTrait.enabled(
      if: RabbitMQNode.isInstalled, "rabbitmq-server is missing; install it: Scripts/setup.sh --ci"
    ).prepare(for: test)
  }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.turns.begin()
    defer { Self.turns.end() }
    try await function()
  }

  private static let turns = Turns()

  /// Gives turns in the order in which they are asked for.
  private final class Turns: Sendable {
    private struct State {
      var isTaken = false
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func begin() async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          if state.isTaken { state.waiting.append(continuation) }
          defer { state.isTaken = true }
          return !state.isTaken
        }
        if isFree { continuation.resume() }
      }
    }

    func end() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if state.waiting.isEmpty {
          state.isTaken = false
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume()
    }
  }
}

/// A RabbitMQ node on a port of this machine, beside the system's own, which ends with its value. Its data is in a
/// folder of the test.
package final class RabbitMQNode {
  package let port: UInt16
  private let scratch: Scratch
  private let environment: [String: String]
  private let names: Daemon
  private var server: Daemon

  fileprivate static let isInstalled = [program, "/usr/bin/epmd"].allSatisfy(
    FileManager.default.isExecutableFile)
  private static let program = "/usr/lib/rabbitmq/bin/rabbitmq-server"

  /// Starts a node, with lines of its configuration for a second listener, and waits until it accepts connections.
  package init(_ listener: String = "", in scratch: Scratch) throws {
    self.scratch = scratch
    port = try freePort()
    let namesPort = try freePort()
    names = try Daemon([
      "/usr/bin/epmd", "-address", "127.0.0.1", "-port", "\(namesPort)", "-relaxed_command_check",
    ])
    let configuration = """
      listeners.tcp.1 = 127.0.0.1:\(port)
      vm_memory_high_watermark.absolute = 512MB
      \(listener)

      """
    try scratch.write(Array(configuration.utf8), "rabbitmq.conf")
    try scratch.write(Array("[].\n".utf8), "plugins")
    environment = [
      "HOME": scratch.folder.path, "ERL_CRASH_DUMP": scratch["crash"],
      "ERL_EPMD_PORT": "\(namesPort)",
      "RABBITMQ_NODENAME": "test@localhost", "RABBITMQ_NODE_PORT": "\(port)",
      "RABBITMQ_DIST_PORT": "\(try freePort())", "RABBITMQ_CONFIG_FILE": scratch["rabbitmq.conf"],
      "RABBITMQ_MNESIA_BASE": scratch["mnesia"], "RABBITMQ_LOG_BASE": scratch["log"],
      "RABBITMQ_PID_FILE": scratch["pid"], "RABBITMQ_ENABLED_PLUGINS_FILE": scratch["plugins"],
      "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
        "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
      // The script becomes the node, in place of its parent.
      "RUNNING_UNDER_SYSTEMD": "true",
    ]
    server = try Self.start(environment, in: scratch)
  }

  /// Starts it, up to three times, as a service manager does: a node that was killed may hang or fail at its next start.
  private static func start(_ environment: [String: String], in scratch: Scratch) throws -> Daemon {
    var log = ""
    for _ in 0..<3 {
      let server = try Daemon([program], environment: environment, log: scratch["rabbitmq.log"])
      let began = ContinuousClock.now
      var isUp = false
      _ = eventually {
        log = (try? scratch.bytes("rabbitmq.log")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        isUp = log.contains("Starting broker... completed")
        return isUp || !server.isRunning || .now - began > .seconds(100)
      }
      if isUp, server.isRunning { return server }
      FileHandle.standardError.write(Data("\(NoNode(log: log))\n".utf8))
      server.kill()
    }
    throw NoNode(log: log)
  }

  private struct NoNode: Error, CustomStringConvertible {
    let log: String
    var description: String { "rabbitmq-server did not start: \(log)" }
  }

  /// Runs `rabbitmqctl` on the node, and returns its output.
  @discardableResult package func control(_ arguments: String...) throws -> String {
    try runTool(
      ["/usr/bin/env"] + environment.map { "\($0)=\($1)" }
        + ["/usr/lib/rabbitmq/bin/rabbitmqctl", "--silent"] + arguments)
  }

  /// Ends it, as the kernel does or in order, and starts it again with its data.
  package func restart(isOrderly: Bool = false) throws {
    if isOrderly { server.end() } else { server.kill() }
    server = try Self.start(environment, in: scratch)
  }
}
