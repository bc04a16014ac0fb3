package import DBusMessages
package import Scanning

/// A scanner on bluetoothd, over D-Bus: for a desktop, a container, and wherever a process has no capability.
///
/// bluetoothd scans for all programs at once. The scanner registers an advertisement monitor for iBeacon frames, by
/// which bluetoothd reports every such advert of a passive scan. That shows who is there; signal strengths are
/// reported only where they change by 8 dB. Where they are needed it therefore starts a discovery with duplicates too,
/// which asks advertisers for their scan responses. A bluetoothd without monitors (5.66 has them as an experiment) reports
/// each beacon about once in ten seconds.
///
/// Sightings are stamped when they are read. bluetoothd may report two adverts of one device that follow each other at once
/// as one. A report that is counted is an iBeacon frame: bluetoothd keeps other adverts to itself. An adapter that is off
/// stays off. A call of `receive` waits for two seconds at most.
///
/// What it set up in bluetoothd ends with its connection to the bus, also where the process is killed.
package typealias BlueZScanner = LiveSource<BlueZSession>

extension BlueZScanner {
  /// Creates a scanner, which connects to no bus before it receives.
  package convenience init(
    _ configuration: ScanConfiguration = ScanConfiguration(), bus: BusAddress = .system,
    limits: BusLimits = BusLimits()
  ) {
    self.init(
      configuration.adapters.description, BlueZSession(configuration, on: bus, limits: limits)
    ) {
      BlueZView.current(bus, limits: limits).availability(of: configuration.adapters)
    }
  }
}
