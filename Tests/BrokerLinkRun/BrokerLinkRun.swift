import BrokerLink
import Glibc
import ServiceCore

/// A receiver that reports nothing, for tests to kill, and for measurements.
@main struct BrokerLinkRun {
  static func main() throws {
    guard let port = CommandLine.arguments.dropFirst().first.flatMap({ UInt16($0) }) else {
      print("broker-link-run: give the broker's port on this machine")
      exit(64)
    }
    var configuration = BrokerConfiguration(host: "127.0.0.1", node: "kiosk")
    configuration.port = port
    let link = try Broker(configuration, ServiceManager().journal)
    link.update { $0.setRegions([BrokerRegion("lobby")]) }
    link.update { $0.setBeacons([:]) }
    link.start()
    while true { pause() }
  }
}
