import BrokerLink
import Glibc
import Scanning
import ServiceCore

/// A receiver that reports nothing, for tests to kill, and for measurements. With the path of an
/// outbox, it is one of a fleet, which reports fifty times a second.
@main struct BrokerLinkRun {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let port = arguments.first.flatMap({ UInt16($0) }) else {
      print("broker-link-run: give the broker's port on this machine")
      exit(64)
    }
    var configuration = BrokerConfiguration(host: "127.0.0.1", node: "kiosk")
    configuration.port = port
    if let outbox = arguments.dropFirst().first {
      configuration.username = "kiosk"
      configuration.password = "secret"
      configuration.reconnectDelay = 0.02...0.1
      var fleet = FleetConfiguration(
        configuration, site: "museum", receiver: "hall", outbox: outbox)
      fleet.interval = 0.02
      try FleetReporter(fleet, SightingMeter()).start { nil }
      while true { pause() }
    }
    let link = try Broker(configuration, ServiceManager().journal)
    link.update { $0.setRegions([BrokerRegion("lobby")]) }
    link.update { $0.setBeacons([:]) }
    link.start()
    while true { pause() }
  }
}
