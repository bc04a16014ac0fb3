import Advertising
import Glibc
import HCIPackets
public import Scanning
import Synchronization

/// A scanner on raw HCI sockets: for a machine that is a kiosk and nothing else.
///
/// It needs `CAP_NET_RAW`, and `CAP_NET_ADMIN` only to switch an adapter on that is off. It hears every
/// advert: the controller's duplicate filter is off. The scan is passive unless told otherwise, at full duty
/// for ranging, at a quarter of it while only regions are monitored, and off while nobody listens. Time
/// stamps are the kernel's. A fault is told by `ScanProgress.health` and mended as soon as it can be:
/// an adapter that comes back is found by its address.
///
/// Beside bluetoothd it does no harm: a scan that another program runs is listened to, and never stopped.
/// But bluetoothd's own discovery has the controller report each advert once.
///
/// Each adapter takes 66 KB and up to 1 MiB of the kernel's memory for what has not been read.
public final class HCIScanner: Scanner {
  /// Is shown a packet with its H4 type in front: its bytes, when the kernel took it by the wall's clock,
  /// whether it came from the controller, and the adapter's number.
  public typealias PacketTap = Scanning.PacketTap

  /// How to scan.
  public struct Configuration: Sendable {
    /// With which adapters.
    public var adapters = AdapterSelection.firstUsable
    /// How much stronger than true adapters hear, in dB: taken off each signal strength.
    public var offsets: [(adapter: AdapterName, decibels: Double)] = []
    /// Whether advertisers are asked for their scan response.
    public var isActive = false
    /// Whether to listen on the LE Coded PHY, too, where the controller can.
    public var usesCodedPHY = false
    /// After so many seconds without any advert it is said that nothing is heard.
    public var quietLimit = 30.0
    /// Is shown every packet, on the thread that listens.
    public var packetTap: PacketTap?

    /// The defaults.
    public init() {}
  }

  /// How it scans.
  public let configuration: Configuration

  private let state: Mutex<ListeningState>
  private let counted = Mutex(ScanCounts())
  private let looked = Mutex<(at: MonotonicTime, availability: ScannerAvailability)?>(nil)

  /// Makes a scanner, which touches no adapter before it is listened to.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    state = Mutex(ListeningState(configuration))
    RestAtExit.add(self)
  }

  deinit {
    RestAtExit.remove(self)
    rest()
  }

  /// The adapters' names.
  public var name: String {
    configuration.adapters.description
  }

  /// Never: the radio does not wait for its listener.
  public var isRecorded: Bool { false }

  /// Whether an adapter is there, may be used, and is on or can be switched on; looked at once a second.
  public var availability: ScannerAvailability {
    looked.withLock { looked in
      let now = KernelClock.monotonic
      if let looked, now.nanoseconds(since: looked.at) < MonotonicTime.nanosecondsPerSecond {
        return looked.availability
      }
      let availability = ScannerAvailability(of: configuration.adapters)
      looked = (now, availability)
      return availability
    }
  }

  /// What was counted so far.
  public var counts: ScanCounts { counted.withLock { $0 } }

  /// Listens: waits until something is heard, at most a tenth of a second.
  ///
  /// It never throws: what is wrong is told as health, and may mend.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure can take the array only as its own.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    let (progress, counts) = state.withLock { state in
      (state.listen(for: demand, until: deadline, into: &own), state.collector.counts)
    }
    counted.withLock { $0 = counts }
    return progress
  }

  /// Switches the scan off, and closes the sockets.
  public func rest() {
    state.withLock { $0.rest() }
  }

  /// The same at the end of the process, when whoever listens may never let go: waits for a third of a
  /// second at most.
  func restIfPossible() {
    for _ in 0..<30 {
      if state.withLockIfAvailable({ $0.rest() }) != nil { return }
      usleep(10_000)
    }
  }
}
