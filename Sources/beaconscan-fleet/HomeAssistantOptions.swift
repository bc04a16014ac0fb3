import Advertising
import ArgumentParser
import BrokerLink
import FleetPage
import FleetPicture
import FleetSites
import Fusion
import Scanning

/// The broker that Home Assistant reads rooms from.
struct HomeAssistantOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Home Assistant's MQTT broker, for a device of each receiver and each named beacon.",
      valueName: "host[:port]"))
  var homeAssistant: String?

  @Option(help: ArgumentHelp("The user name at that broker.", valueName: "name"))
  var homeAssistantUsername: String?

  @Option(help: ArgumentHelp("A file whose first line is the password there.", valueName: "file"))
  var homeAssistantPasswordFile: String?

  @Option(
    help: ArgumentHelp(
      "The authorities that sign that broker's certificate, in PEM; TLS is then used.",
      valueName: "file"))
  var homeAssistantCA: String?

  @Option(
    help: ArgumentHelp(
      "The name of this fleet there: letters, digits, _ and -. Each fleet needs its own.",
      valueName: "name"))
  var homeAssistantNode = "fleet-rooms"

  func validate() throws { _ = try address() }

  private func address() throws -> BrokerAddress? {
    guard let homeAssistant else {
      let others = [
        ("username", homeAssistantUsername), ("password-file", homeAssistantPasswordFile),
        ("ca", homeAssistantCA),
      ]
      if let (name, _) = others.first(where: { $1 != nil }) {
        throw ValidationError("--home-assistant-\(name) needs --home-assistant, the broker")
      }
      return nil
    }
    guard let address = BrokerAddress(argument: homeAssistant) else {
      throw ValidationError(
        "--home-assistant must be HOST or HOST:PORT, such as mqtt.local:1883, not '\(homeAssistant)'"
      )
    }
    return address
  }

  /// Creates a link, or returns `nil` without a broker.
  func link() throws -> Broker<RoomPublisher>? {
    guard let address = try address() else { return nil }
    var configuration = BrokerConfiguration(host: address.host, node: homeAssistantNode)
    configuration.option = "home-assistant"
    configuration.port = address.port
    configuration.username = homeAssistantUsername
    if let homeAssistantPasswordFile {
      configuration.password = try Files.firstLine(homeAssistantPasswordFile)
    }
    if let homeAssistantCA {
      var tls = BrokerConfiguration.TLS()
      tls.authorities = homeAssistantCA
      configuration.tls = tls
    }
    do throws(BrokerError) {
      return try Broker(configuration) { event in
        switch event {
        case .connected: FleetError.warn("connected to Home Assistant's broker \(address.host)")
        case .failed(let sentence): FleetError.warn(sentence)
        }
      }
    } catch {
      throw FleetError(error.isOfFile ? .noInput : .unavailable, "\(error)")
    }
  }
}

extension Broker<RoomPublisher> {
  /// Publishes the places of now, where they differ from those before. Of a site that nothing is
  /// received of, nothing is known.
  func update(from hub: FleetHub) {
    let places = hub.places
    update { publisher in
      publisher.set(sites: Set(places.keys))
      for (site, place) in places {
        guard let receivers = place.receivers else { continue }
        let rooms = Dictionary(
          place.file.site.receivers.map { ($0.name, $0.room) }, uniquingKeysWith: { $1 })
        publisher.set(
          site,
          receivers: receivers.map {
            RoomPublisher.Receiver(
              name: $0.name, room: rooms[$0.name] ?? nil,
              isMissing: $0.isMissing || !place.isCurrent, receptionLost: $0.receptionLost)
          },
          beacons: place.file.beacons.compactMap { identity, known in
            known.name.map { place.beacon(identity, named: $0) }
          })
      }
    }
  }
}

extension FleetHub.SitePlaces {
  /// A beacon that no picture has is outside.
  fileprivate func beacon(_ identity: BeaconIdentity, named name: String) -> RoomPublisher.Beacon {
    guard isCurrent else {
      return RoomPublisher.Beacon(identity, name: name, room: nil, isOutside: false)
    }
    guard let beacon = beacons["\(identity)"] else {
      return RoomPublisher.Beacon(identity, name: name, room: nil, isOutside: true)
    }
    return RoomPublisher.Beacon(
      identity, name: name, room: beacon.room, isOutside: beacon.isOutside,
      probability: beacon.probability, since: beacon.since)
  }
}
