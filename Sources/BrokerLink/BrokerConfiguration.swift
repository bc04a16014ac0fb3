import FoundationEssentials
import Glibc

package struct BrokerConfiguration: Sendable, Equatable {
  package var host: String
  /// The port, or `nil` for 1883, or 8883 with TLS.
  package var port: UInt16?
  package var username: String?
  package var password: String?
  package var tls: TLS?
  /// The name of this receiver on the broker: ASCII letters, digits, `_` and `-`.
  package var node: String
  package var topicPrefix: String?
  /// The parent of Home Assistant's discovery topics, or `nil` for no discovery.
  package var discoveryPrefix: String? = "homeassistant"
  package var hasLocations = false
  /// The area that Home Assistant suggests for the receiver's device, or `nil` for none.
  package var room: String?
  /// The URL of the receiver's page, or `nil` if other machines cannot reach it.
  package var pageURL: String?
  package var includesUnnamedBeacons = false
  /// The seconds without traffic after which the connection is checked, from 5 to 65535.
  package var keepAlive = 60
  /// The version to show for the receiver in Home Assistant.
  package var softwareVersion: String?
  /// The option that names the broker, and begins the names of the others.
  package var option = "mqtt"
  /// The client identifier, or `nil` for one with the node.
  package var client: String?
  /// The shortest and longest pause between attempts to connect, in seconds.
  package var reconnectDelay: ClosedRange<Double> = 1...15

  package init(host: String, node: String? = nil) {
    self.host = host
    self.node = node ?? Self.hostNode
  }

  package struct TLS: Sendable, Equatable {
    package var authorities: String?
    package var certificate: String?
    package var key: String?

    package init() {}
  }

  /// The node for this host: the first label of its name.
  package static var hostNode: String {
    node(ofHost: String(ProcessInfo.processInfo.hostName.prefix { $0 != "." }))
  }

  static func node(ofHost name: String) -> String {
    name.isEmpty ? "receiver" : TopicName.identifier(of: name)
  }
}

package struct BrokerError: Error, Hashable, CustomStringConvertible {
  package var description: String
  package var isOfFile: Bool

  init(_ description: String, isOfFile: Bool = false) {
    self.description = description
    self.isOfFile = isOfFile
  }
}

extension BrokerConfiguration {
  var address: String { host.contains(":") ? "[\(host)]:\(usedPort)" : "\(host):\(usedPort)" }
  var usedPort: UInt16 { port ?? (tls == nil ? 1883 : 8883) }
  /// The client identifier. A broker ends the older of two connections with the same one.
  var clientID: String { client ?? "beaconscan-\(node)" }
  var prefix: String { topicPrefix ?? "beaconscan/\(node)" }

  package func check() throws(BrokerError) {
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw BrokerError("--\(option): '\(host)' is not a host's name; give one such as mqtt.local")
    }
    guard port != 0 else {
      throw BrokerError("the MQTT broker's port is 0; give one from 1 to 65535, such as 1883")
    }
    guard TopicName.isIdentifier(node) else {
      throw BrokerError(
        "--mqtt-node: '\(node)' cannot be used: write ASCII letters, digits, _ and - alone, "
          + "\(TopicName.maximumIdentifierBytes) at most")
    }
    try Self.check(prefix, "prefix")
    if let discoveryPrefix { try Self.check(discoveryPrefix, "discovery") }
    guard (5...65535).contains(keepAlive) else {
      throw BrokerError("the MQTT keep-alive is \(keepAlive) s; give a time from 5 s to 65535 s")
    }
    guard reconnectDelay.lowerBound > 0, reconnectDelay.upperBound <= 86400 else {
      throw BrokerError("the delays between two attempts must be longer than 0 s and at most 1 d")
    }
    for (text, what) in [(username, "user name"), (password, "password")] {
      guard let text else { continue }
      guard text.utf8.count <= 65535, !text.utf8.contains(0) else {
        throw BrokerError(
          "the MQTT \(what) cannot be sent; give 65535 bytes at most, none of them 0")
      }
    }
    guard password == nil || username != nil else {
      throw BrokerError(
        "--\(option)-password-file needs a user name; give --\(option)-username NAME too")
    }
    try tls?.check(option)
  }

  private static func check(_ prefix: String, _ option: String) throws(BrokerError) {
    let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
    guard prefix.utf8.count <= 1024, levels.allSatisfy({ TopicName.isLevel(String($0)) }),
      !prefix.hasPrefix("$")
    else {
      throw BrokerError(
        "--mqtt-\(option): '\(prefix)' cannot be used: write a topic such as site/kiosk, of 1024 bytes at "
          + "most, without +, #, control characters, empty levels and a $ in front")
    }
  }
}

extension BrokerConfiguration.TLS {
  fileprivate func check(_ option: String) throws(BrokerError) {
    guard (certificate == nil) == (key == nil) else {
      let (given, missing) = key == nil ? ("certificate", "key") : ("key", "certificate")
      throw BrokerError(
        "--\(option)-\(given) needs the \(missing); give --\(option)-\(missing) FILE too")
    }
    for (file, what) in [
      (authorities, "the file of authorities"), (certificate, "the client's certificate"),
      (key, "the client's key"),
    ] {
      guard let file else { continue }
      guard !file.utf8.contains(0), unsafe access(file, R_OK) == 0 else {
        let reason = unsafe String(cString: strerror(errno))
        throw BrokerError(
          "\(file): \(what) for MQTT cannot be read (\(reason)); give a PEM file", isOfFile: true)
      }
    }
  }
}
