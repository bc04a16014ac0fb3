import Foundation
package import TestSupport
package import Testing

extension Trait where Self == ConditionTrait {
  /// Tests that need an MQTT broker are skipped where none is installed.
  package static var mosquitto: Self {
    .enabled(
      if: MosquittoBroker.isInstalled, "mosquitto is missing; install it: Scripts/setup.sh --ci")
  }
}

/// A broker on a port of this machine, which ends with its value.
package final class MosquittoBroker {
  package let port: UInt16
  private let daemon: Daemon

  fileprivate static let isInstalled = [program, Subscriber.program, "/usr/bin/openssl"].allSatisfy(
    FileManager.default.isExecutableFile)
  private static let program = "/usr/sbin/mosquitto"

  /// Starts a broker, with lines of its configuration that say who may connect, and waits until it accepts connections:
  /// on a free port, or on that of a broker that was there before. It forgets everything when it ends.
  package init(
    on port: UInt16? = nil, _ access: String = "allow_anonymous true", in scratch: Scratch
  ) throws {
    self.port = try port ?? freePort()
    // Root would become a user who cannot read the test's files.
    let configuration = """
      user root
      listener \(self.port) 127.0.0.1
      max_queued_messages 0
      \(access)

      """
    try scratch.write(Array(configuration.utf8), "mosquitto.conf")
    daemon = try Daemon(
      [Self.program, "-c", scratch["mosquitto.conf"]], log: scratch["mosquitto.log"])
    let port = self.port
    guard eventually({ isListening(on: port) || !daemon.isRunning }), daemon.isRunning else {
      throw NoBroker(log: String(decoding: try scratch.bytes("mosquitto.log"), as: UTF8.self))
    }
  }

  private struct NoBroker: Error, CustomStringConvertible {
    let log: String
    var description: String { "mosquitto did not start: \(log)" }
  }

  /// Stops it until ``resume()``: it neither reads nor answers.
  package func pause() { daemon.pause() }
  package func resume() { daemon.resume() }
  package func kill() { daemon.kill() }
  /// Makes it read its password file again.
  package func reload() { daemon.reload() }
}

/// Returns whether a port of this machine accepts connections.
private func isListening(on port: UInt16) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var name = sockaddr_in()
  name.sin_family = sa_family_t(AF_INET)
  name.sin_port = port.bigEndian
  name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  // The structure outlives the call.
  return unsafe withUnsafePointer(to: &name) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  } == 0
}

/// A client of another make, which receives everything.
package final class Subscriber {
  fileprivate static let program = "/usr/bin/mosquitto_sub"
  private let daemon: Daemon
  private let scratch: Scratch
  private let log: String

  package struct Message: Equatable, Sendable {
    package var isRetained: Bool
    package var topic: String
    package var payload: String
  }

  /// Subscribes to every topic, and waits until the broker has confirmed that.
  package init(to port: UInt16, _ options: [String] = [], in scratch: Scratch) throws {
    (self.scratch, log) = (scratch, "subscriber-\(UUID().uuidString).log")
    daemon = try Daemon(
      [
        // It would keep what it says until a message comes.
        "/usr/bin/stdbuf", "-oL", Self.program, "-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-d",
        "-t", "#", "-F",
        "MESSAGE\t%r\t%t\t%p",
      ] + options, log: scratch[log])
    guard eventually({ text.contains("Subscribed (mid") || !daemon.isRunning }), daemon.isRunning
    else { throw NotSubscribed(log: text) }
  }

  private struct NotSubscribed: Error, CustomStringConvertible {
    let log: String
    var description: String { "mosquitto_sub could not subscribe: \(log)" }
  }

  package var text: String {
    (try? scratch.bytes(log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// What has come so far, in order.
  package var messages: [Message] {
    // A line that is being written has no end yet.
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
      let parts = line.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4, parts[0] == "MESSAGE" else { return nil }
      return Message(
        isRetained: parts[1] == "1", topic: String(parts[2]), payload: String(parts[3]))
    }
  }

  /// The newest message of each topic.
  package var newest: [String: String] {
    Dictionary(messages.map { ($0.topic, $0.payload) }) { $1 }
  }

  package func kill() { daemon.kill() }
}
