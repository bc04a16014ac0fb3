import ArgumentParser
import BrokerLink
import Frontends

struct BrokerOptions: ParsableArguments {
  @Option(
    Setting(
      "mqtt", "Publish to this MQTT broker. See docs/mqtt.md.", "broker",
      details: "HOST or HOST:PORT.", valid: "write HOST or HOST:PORT, such as mqtt.local:1883",
      read: BrokerAddress.init(argument:)))
  var mqtt: BrokerAddress?

  @Option(
    .text(
      "mqtt-username", "The user name at the broker.", "name", valid: "write a name such as kiosk"
    ).rare)
  var mqttUsername: String?

  @Option(.file("mqtt-password-file", "A file whose first line is the password.").rare)
  var mqttPasswordFile: String?

  @Flag(
    .flag("mqtt-tls", "Use TLS, with the authorities of the system; the port is then 8883.").rare)
  var mqttTls: Bool

  @Option(.file("mqtt-ca", "Use TLS, with these authorities, a PEM file.").rare) var mqttCa: String?

  @Option(.file("mqtt-certificate", "The certificate of this client, a PEM file.").rare)
  var mqttCertificate: String?

  @Option(.file("mqtt-key", "The key of that certificate, a PEM file.").rare) var mqttKey: String?

  @Option(
    .text(
      "mqtt-node", "The name of this receiver at the broker: letters, digits, _ and -.", "name",
      shown: "the host's name", valid: "write a name such as kiosk"
    ).rare)
  var mqttNode: String?

  @Option(
    .text(
      "mqtt-prefix", "The topic under which all of it lies.", "topic", shown: "beaconscan/NODE",
      valid: "write a topic such as site/kiosk"
    ).rare)
  var mqttPrefix: String?

  @Option(
    .text(
      "mqtt-discovery", "The topic under which Home Assistant discovers; none for no discovery.",
      "topic", shown: "homeassistant", valid: "write a topic such as site/kiosk, or none"
    ).rare)
  var mqttDiscovery: String?

  @Option(
    .text(
      "mqtt-room", "The area that Home Assistant suggests for this receiver.", "room",
      valid: "write a name such as kitchen"
    ).rare)
  var mqttRoom: String?

  @Flag(.flag("mqtt-all", "Publish beacons without a name too, the 64 closest.").rare) var mqttAll:
    Bool

  func validate() throws {
    guard mqtt == nil else {
      if mqttRoom != nil, mqttDiscovery == "none" {
        throw ValidationError(
          "--mqtt-room is for discovery, which --mqtt-discovery none switches off; leave one of them "
            + "out.")
      }
      return
    }
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
        throw CommandError(error.isOfFile ? .noInput : .usage, error.description)
      }
      return configuration
    }
  }
}
