import Adapters
package import DBusMessages
package import Scanning
import Synchronization

/// A scanner on bluetoothd, over D-Bus: for a desktop, a container, and wherever a process has no capability.
///
/// bluetoothd scans for all programs at once. The scanner registers an advertisement monitor for iBeacon frames, by
/// which bluetoothd reports every such advert of a passive scan. That shows who is there; signal strengths are
/// reported only where they change by 8 dB. Where they are needed it therefore starts a discovery with duplicates too,
/// which asks advertisers for their scan responses. A bluetoothd without monitors (5.66 has them as an experiment) reports
/// each beacon about once in ten seconds.
///
/// Sightings are stamped when they are read. bluetoothd may report two adverts of one device that follow each other at once
/// as one. An adapter that is off stays off.
///
/// What it set up in bluetoothd ends with its connection to the bus, also where the process is killed.
package final class BlueZScanner: Scanner {
  /// How to scan.
  package struct Configuration: Sendable {
    /// The adapters that scan.
    package var adapters = AdapterSelection.firstUsable
    /// How much stronger than true adapters measure, in dB: subtracted from each signal strength.
    package var offsets: [(adapter: AdapterName, decibels: Double)] = []
    /// After so many seconds without any advert the receiver state is `quiet`.
    package var quietTimeout = 30.0
    /// The bus on which bluetoothd is.
    package var bus = BusAddress.system

    /// Creates the default configuration.
    package init() {}
  }

  /// How the scanner scans.
  package let configuration: Configuration

  private let session: Mutex<BlueZSession>
  private let wakeSignal = WakeSignal()
  private let counted = Mutex(ScanCounts())
  /// Whether the adapters can be used, and until when that holds.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)

  /// Creates a scanner, which connects to no bus before it receives.
  package init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    session = Mutex(BlueZSession(configuration))
  }

  /// The adapters' names.
  package var name: String { configuration.adapters.description }

  /// Never: the radio does not wait for its client.
  package var isRecorded: Bool { false }

  /// Whether bluetoothd runs, may be used, and has an adapter that is on.
  ///
  /// While the scanner receives, this is what its states show; at rest, the bus is asked once a second at most.
  package var availability: ScannerAvailability {
    known.withLock { known in
      let now = MonotonicTime.now
      if let known, now < known.until { return known.availability }
      let availability = BlueZView.current(configuration.bus).availability(
        of: configuration.adapters)
      known = (now.advanced(by: MonotonicTime.nanosecondsPerSecond), availability)
      return availability
    }
  }

  /// What was counted so far. A report is an iBeacon frame: bluetoothd keeps other adverts to itself.
  package var counts: ScanCounts { counted.withLock { $0 } }

  /// Waits until something is received or ``wake()`` is called: two seconds at most.
  ///
  /// It never throws: a fault is reported as health, and may pass.
  package func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure can take the array only as its own.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    let (progress, counts, availability) = session.withLock { session in
      let progress = session.receive(
        for: demand, until: deadline, wakeSignal: wakeSignal, into: &own)
      return (progress, session.counts, session.availability)
    }
    counted.withLock { $0 = counts }
    if let availability {
      known.withLock { $0 = (MonotonicTime(nanoseconds: .max), availability) }
    }
    return progress
  }

  /// Ends a wait of ``receive(for:until:into:)``.
  package func wake() { wakeSignal.send() }

  /// Ends the connection, and with it all that was set up in bluetoothd.
  package func rest() {
    session.withLock { $0.rest() }
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }
}
