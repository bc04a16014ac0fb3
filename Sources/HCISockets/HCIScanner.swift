import Adapters
import Advertising
import Glibc
import HCIPackets
package import Scanning
import Synchronization

/// A scanner on raw HCI sockets: for a machine that is a kiosk and nothing else.
///
/// It needs `CAP_NET_RAW`, and `CAP_NET_ADMIN` only to switch an adapter on that is off. It receives every advert:
/// the controller's duplicate filter is off. The scan is passive unless configured otherwise, at full duty for
/// ranging, at a quarter of it while only regions are monitored, and off while there is no demand. Time stamps are
/// the kernel's. A fault is reported in `ScanProgress.health`, and reception resumes as soon as it can: an adapter
/// that is named by its address is found wherever it comes back.
///
/// Beside bluetoothd it does no harm: a scan that another program runs is used, and never stopped. But bluetoothd's
/// own discovery has the controller report each advert once.
///
/// Each adapter takes 66 KB and up to 1 MiB of the kernel's memory for what has not been read.
package final class HCIScanner: Scanner {
  /// How to scan.
  package struct Configuration: Sendable {
    /// The adapters that scan.
    package var adapters = AdapterSelection.firstUsable
    /// How much stronger than true adapters measure, in dB: subtracted from each signal strength.
    package var offsets: [(adapter: AdapterName, decibels: Double)] = []
    /// Whether advertisers are asked for their scan response.
    package var isActive = false
    /// Whether adverts on the LE Coded PHY are received too, where the controller can.
    package var usesCodedPHY = false
    /// After so many seconds without any advert the receiver state is `quiet`.
    package var quietTimeout = 30.0
    /// Is shown every packet, on the thread that receives.
    package var packetTap: PacketTap?
    /// Is shown every advertising report, on the thread that receives.
    package var reportTap: ReportTap?

    /// Creates the default configuration.
    package init() {}
  }

  /// How the scanner scans.
  package let configuration: Configuration

  private let system: HCISystem
  private let state: Mutex<ReceivingState>
  private let wakeSignal = WakeSignal()
  private let counted = Mutex(ScanCounts())
  /// Whether the adapters can be used, and until when that holds.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)

  /// Creates a scanner, which touches no adapter before it receives.
  package convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, system: .host)
  }

  init(_ configuration: Configuration, system: HCISystem) {
    self.configuration = configuration
    self.system = system
    state = Mutex(ReceivingState(configuration, system: system))
    RestAtExit.add(self)
  }

  deinit {
    RestAtExit.remove(self)
    rest()
  }

  /// The adapters' names.
  package var name: String { configuration.adapters.description }

  /// Never: the radio does not wait for its client.
  package var isRecorded: Bool { false }

  /// Whether an adapter is there, may be used, and is on or can be switched on.
  ///
  /// While the scanner receives, this is what its adapters' states show; at rest, the system is asked once a second
  /// at most.
  package var availability: ScannerAvailability {
    known.withLock { known in
      let now = MonotonicTime.now
      if let known, now < known.until { return known.availability }
      let availability = system.availability(of: configuration.adapters)
      known = (now.advanced(by: Self.availabilityLife), availability)
      return availability
    }
  }

  /// How long an answer of the system holds, in nanoseconds.
  private static let availabilityLife = MonotonicTime.nanosecondsPerSecond

  /// What was counted so far.
  package var counts: ScanCounts { counted.withLock { $0 } }

  /// Waits until something is received or ``wake()`` is called: a quarter of a second at most, and four seconds where nothing
  /// is on air.
  ///
  /// It never throws: a fault is reported as health, and may pass.
  package func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure can take the array only as its own.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    let (progress, counts, availability) = state.withLock { state in
      let progress = state.receive(
        for: demand, until: deadline, wakeSignal: wakeSignal, into: &own)
      return (progress, state.collector.counts, state.availability)
    }
    counted.withLock { $0 = counts }
    if let availability {
      known.withLock { $0 = (MonotonicTime(nanoseconds: .max), availability) }
    }
    return progress
  }

  /// Ends a wait of ``receive(for:until:into:)``.
  package func wake() { wakeSignal.send() }

  /// Switches the scan off, and closes the sockets.
  package func rest() {
    state.withLock { $0.rest() }
    // What the adapters' states showed holds for a moment longer.
    let end = MonotonicTime.now.advanced(by: Self.availabilityLife)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }

  /// Rests at the end of the process, when a thread that receives may never return: waits for a third of a second
  /// at most.
  func restIfPossible() {
    for _ in 0..<30 {
      if state.withLockIfAvailable({ $0.rest() }) != nil { return }
      usleep(10_000)
    }
  }
}
