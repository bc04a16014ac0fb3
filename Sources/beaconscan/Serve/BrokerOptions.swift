import ArgumentParser
import BrokerLink

/// The MQTT broker to which the service publishes.
struct BrokerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Publish to this MQTT broker: HOST or HOST:PORT. See docs/mqtt.md.", valueName: "broker"))
  var mqtt: BrokerAddress?

  @Option(help: ArgumentHelp("The user name at the broker.", valueName: "name"))
  var mqttUsername: String?

  @Option(
    help: ArgumentHelp("A file whose first line is the password.", valueName: "file"),
    completion: .file())
  var mqttPasswordFile: String?

  @Flag(help: "Use TLS, with the authorities of the system; the port is then 8883.")
  var mqttTls = false

  @Option(
    help: ArgumentHelp("Use TLS, with these authorities, a PEM file.", valueName: "file"),
    completion: .file())
  var mqttCa: String?

  @Option(
    help: ArgumentHelp("The certificate of this client, a PEM file.", valueName: "file"),
    completion: .file())
  var mqttCertificate: String?

  @Option(
    help: ArgumentHelp("The key of that certificate, a PEM file.", valueName: "file"),
    completion: .file())
  var mqttKey: String?

  @Option(
    help: ArgumentHelp(
      "The name of this receiver at the broker: letters, digits, _ and -. (default: the host's name)",
      valueName: "name"))
  var mqttNode: String?

  @Option(
    help: ArgumentHelp(
      "The topic under which all of it lies. (default: beaconscan/NODE)", valueName: "topic"))
  var mqttPrefix: String?

  @Option(
    help: ArgumentHelp(
      "The topic under which Home Assistant discovers; none for no discovery. (default: homeassistant)",
      valueName: "topic"))
  var mqttDiscovery: String?

  @Option(
    help: ArgumentHelp(
      "The area that Home Assistant suggests for this receiver.", valueName: "room"))
  var mqttRoom: String?

  @Flag(help: "Publish beacons without a name too, the 64 closest.")
  var mqttAll = false

  func validate() throws {
    guard mqtt == nil else { return }
    let given: [(Bool, String)] = [
      (mqttUsername != nil, "username"), (mqttPasswordFile != nil, "password-file"),
      (mqttTls, "tls"), (mqttCa != nil, "ca"), (mqttCertificate != nil, "certificate"),
      (mqttKey != nil, "key"), (mqttNode != nil, "node"), (mqttPrefix != nil, "prefix"),
      (mqttDiscovery != nil, "discovery"), (mqttRoom != nil, "room"), (mqttAll, "all"),
    ]
    if let (_, name) = given.first(where: \.0) {
      throw ValidationError("--mqtt-\(name) needs a broker; give --mqtt HOST too.")
    }
  }

  var configuration: BrokerConfiguration? {
    get throws {
      guard let mqtt else { return nil }
      var configuration = BrokerConfiguration(host: mqtt.host, node: mqttNode)
      configuration.port = mqtt.port
      configuration.username = mqttUsername
      configuration.password = try mqttPasswordFile.map { path in
        String(decoding: try secretLine(of: path, "password"), as: UTF8.self)
      }
      if mqttTls || mqttCa != nil || mqttCertificate != nil || mqttKey != nil {
        configuration.tls = .init()
        configuration.tls?.authorities = mqttCa
        configuration.tls?.certificate = mqttCertificate
        configuration.tls?.key = mqttKey
      }
      configuration.topicPrefix = mqttPrefix
      if let mqttDiscovery {
        configuration.discoveryPrefix = mqttDiscovery == "none" ? nil : mqttDiscovery
      }
      configuration.room = mqttRoom
      configuration.includesUnnamedBeacons = mqttAll
      configuration.softwareVersion = Beaconscan.configuration.version
      do throws(BrokerError) {
        try configuration.check()
      } catch {
        throw CommandError(.usage, error.description)
      }
      return configuration
    }
  }
}

struct BrokerAddress: ExpressibleByArgument {
  let host: String
  let port: UInt16?

  init?(argument: String) {
    let isName = argument.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard !argument.isEmpty, isName else { return nil }
    if argument.hasPrefix("["), let end = argument.firstIndex(of: "]") {
      host = String(argument[argument.index(after: argument.startIndex)..<end])
      let rest = argument[argument.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = UInt16(rest.dropFirst())
      guard rest.isEmpty || port != nil else { return nil }
      return
    }
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    // More colons belong to an IPv6 address.
    guard parts.count == 2 else {
      (host, port) = (argument, nil)
      return
    }
    guard !parts[0].isEmpty, let number = UInt16(parts[1]), number > 0 else { return nil }
    (host, port) = (String(parts[0]), number)
  }
}
