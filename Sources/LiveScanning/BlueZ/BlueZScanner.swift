package import DBusMessages
package import Scanning

/// A scanner on bluetoothd over D-Bus: for desktops, containers, and users without capabilities.
///
/// bluetoothd scans for all programs at once. The scanner registers an advertisement monitor for
/// iBeacon frames, with which bluetoothd reports every such advert of a passive scan. That shows
/// presence; signal strengths are reported only when they change by 8 dB. If they are needed, the
/// scanner also starts a discovery with duplicates, which requests scan responses. A bluetoothd
/// without monitors (experimental in 5.66) reports each beacon about once in ten seconds.
///
/// Sightings have the time of their reading. An adapter that is off stays off. The setup in
/// bluetoothd ends with the connection to the bus, even if the process is killed.
package typealias BlueZScanner = LiveSource<BlueZSession>

extension BlueZScanner {
  package convenience init(
    _ configuration: LiveScanner.Configuration = LiveScanner.Configuration(),
    bus: BusAddress = .system,
    limits: BusLimits = BusLimits()
  ) {
    self.init(
      configuration.adapters.description, BlueZSession(configuration, on: bus, limits: limits)
    ) {
      // On a busy machine bluetoothd takes seconds for its answer.
      BlueZView.current(bus, limits: limits, within: 10 * MonotonicTime.nanosecondsPerSecond)
        .availability(of: configuration.adapters)
    }
  }
}
