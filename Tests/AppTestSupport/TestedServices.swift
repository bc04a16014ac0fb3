import AppDaemon
package import CoreLocation
import Foundation
import ServiceCore

extension LocationServices {
  /// Whether the tests use services through a daemon: the variable `TESTS_THROUGH_DAEMON` is set.
  package static let testsUseDaemon =
    ProcessInfo.processInfo.environment["TESTS_THROUGH_DAEMON"] != nil

  /// Creates the services that a test uses: its own, or those of a daemon in the same process.
  package static func tested(_ configuration: Configuration) -> LocationServices {
    var services = LocationServices(configuration)
    guard testsUseDaemon else { return services }
    // The daemon's end of an earlier connection closes its file a moment later.
    let end = DispatchTime.now() + 2
    while services.core.storageFailure?.contains("uses this file") == true, .now() < end {
      usleep(1000)
      services = LocationServices(configuration)
    }
    if services.core.storageFailure != nil { services = LocationServices(configuration) }
    let served = services
    let logger = configuration.logger
    let daemon = DaemonLink(AppHello(), patience: (600, 600), logger: logger) { serve(served) }
    guard daemon.open() else { fatalError("the daemon of this process does not answer") }
    return LocationServices(configuration, through: daemon)
  }

  /// Serves a new connection with services, and returns its other end.
  private static func serve(_ services: LocationServices) -> Int32? {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      return nil
    }
    let connection = AppConnection(
      ends[0],
      admit: { _ in AppServices(services.core, services.beacons, services.locations) })
    connection.start()
    return ends[1]
  }
}
