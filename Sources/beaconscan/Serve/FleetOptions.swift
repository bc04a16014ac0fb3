import Advertising
import ArgumentParser
import BrokerLink
import Frontends
import Storage
import SystemPackage

struct FleetOptions: ParsableArguments {
  @Option(
    Setting(
      "fleet", "Report to a fleet's MQTT broker. See docs/fleet.md.", "broker",
      details: "HOST or HOST:PORT. A report each second has what was received in it.",
      valid: "write HOST or HOST:PORT, such as mqtt.local:1883",
      read: BrokerAddress.init(argument:)))
  var fleet: BrokerAddress?

  @Option(.fleetName("site", "The site of this receiver in the fleet.", "museum").rare)
  var site: String?

  @Option(.fleetName("receiver", "The name of this receiver at its site.", "hall-2").rare)
  var receiver: String?

  @Option(
    .text(
      "fleet-username", "The user name at the fleet's broker.", "name",
      details: "The fleet's configurations come to the user SITE.RECEIVER/configuration if it is "
        + "SITE.RECEIVER, as beaconscan-fleet receivers makes it, and otherwise to the same one.",
      valid: "write a name such as hall-2"
    ).rare)
  var fleetUsername: String?

  @Option(.file("fleet-password-file", "A file whose first line is the password.").rare)
  var fleetPasswordFile: String?

  @Flag(
    .flag("fleet-tls", "Use TLS, with the authorities of the system; the port is then 8883.").rare)
  var fleetTls: Bool

  @Option(.file("fleet-ca", "Use TLS, with these authorities, a PEM file.").rare)
  var fleetCa: String?

  @Option(.file("fleet-certificate", "The certificate of this receiver, a PEM file.").rare)
  var fleetCertificate: String?

  @Option(.file("fleet-key", "The key of that certificate, a PEM file.").rare)
  var fleetKey: String?

  @Option(
    Setting<ProximityUUID>(
      SettingDescription(
        "fleet-uuid", "Report only beacons of this proximity UUID.", "uuid",
        details: "May be given several times.", standard: "every beacon"),
      valid: ProximityUUID.requirement, read: ProximityUUID.init
    ).rare)
  var fleetUuid: [ProximityUUID]

  @Option(
    .file(
      "fleet-outbox", "Keep the reports that wait in FILE.1 and FILE.2.",
      details: "FILE.settings has what the fleet configures. By default FILE is fleet-outbox "
        + "beside the history of this user or service.",
      valid: "write the name of a file, which stays; - is none", isValid: { $0 != "-" }
    ).rare)
  var fleetOutbox: String?

  @Option(
    .whole(
      "fleet-outbox-size",
      "Drop the oldest reports that wait where these files are larger than so many megabytes.",
      in: 1...100_000, shown: "256"
    ).rare)
  var fleetOutboxSize: Int?

  func validate() throws {
    guard fleet == nil else {
      for (name, value) in [("site", site), ("receiver", receiver)] where value == nil {
        throw ValidationError("--fleet needs the \(name)'s name; give --\(name) NAME too.")
      }
      return
    }
    let given: [(Bool, String)] = [
      (site != nil, "site"), (receiver != nil, "receiver"),
      (fleetUsername != nil, "fleet-username"), (fleetPasswordFile != nil, "fleet-password-file"),
      (fleetTls, "fleet-tls"), (fleetCa != nil, "fleet-ca"),
      (fleetCertificate != nil, "fleet-certificate"), (fleetKey != nil, "fleet-key"),
      (!fleetUuid.isEmpty, "fleet-uuid"), (fleetOutbox != nil, "fleet-outbox"),
      (fleetOutboxSize != nil, "fleet-outbox-size"),
    ]
    if let (_, name) = given.first(where: \.0) {
      throw ValidationError("--\(name) needs a fleet's broker; give --fleet HOST too.")
    }
  }

  var configuration: FleetConfiguration? {
    get throws {
      guard let fleet, let site, let receiver else { return nil }
      var broker = BrokerConfiguration(host: fleet.host)
      broker.port = fleet.port
      broker.username = fleetUsername
      broker.password = try fleetPasswordFile.map { path in
        String(decoding: try secretLine(of: path, "password"), as: UTF8.self)
      }
      if fleetTls || fleetCa != nil || fleetCertificate != nil || fleetKey != nil {
        broker.tls = .init()
        broker.tls?.authorities = fleetCa
        broker.tls?.certificate = fleetCertificate
        broker.tls?.key = fleetKey
      }
      var configuration = FleetConfiguration(
        broker, site: site, receiver: receiver, outbox: try fleetOutbox ?? Self.standardOutbox)
      configuration.uuids = fleetUuid
      configuration.outboxBytes = (fleetOutboxSize ?? 256) * 1_000_000
      do throws(BrokerError) {
        try configuration.broker.check()
      } catch {
        throw CommandError(error.isOfFile ? .noInput : .usage, error.description)
      }
      return configuration
    }
  }
}

extension FleetOptions {
  private static var standardOutbox: String {
    get throws {
      do throws(StorageError) {
        return try StatePath.history().removingLastComponent().appending("fleet-outbox").string
      } catch {
        throw CommandError(.cannotCreate, "\(error)")
      }
    }
  }
}

extension Setting where Value == String {
  fileprivate static func fleetName(_ name: String, _ summary: String, _ example: String) -> Self {
    .text(
      name, summary, "name",
      valid: "write at most 64 ASCII letters, digits, _ and -, such as \(example)",
      isValid: FleetConfiguration.isName)
  }
}
