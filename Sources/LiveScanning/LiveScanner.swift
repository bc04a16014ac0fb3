public import Scanning
import Synchronization

/// A scanner on the adapters of this machine.
///
/// There are two backends. Raw HCI sockets deliver every advert with the kernel's time stamp, but
/// need `CAP_NET_RAW` and a controller that no other program scans with. bluetoothd, over D-Bus,
/// serves any user alongside other programs, and costs more processor time.
/// ``Backend-swift.enum/auto`` chooses raw HCI if it is permitted and bluetoothd does not scan, and
/// bluetoothd otherwise. If one fails for two seconds and the other works, it changes to the other.
///
/// A build without the package trait `RawHCI` has only bluetoothd, and links no code under the GPL.
public final class LiveScanner: Scanner {
  /// A way to receive.
  public enum Backend: String, Sendable, CaseIterable, Codable {
    /// The one that works best.
    case auto
    /// Raw HCI sockets.
    case hci
    /// bluetoothd, over D-Bus.
    case bluez
  }

  /// The configuration of a scanner.
  public struct Configuration: Sendable {
    /// The way to receive.
    public var backend = Backend.auto
    /// The adapters that scan.
    public var adapters = AdapterSelection.firstUsable
    /// The excess of adapters' measurements in dB, which is subtracted from each signal strength.
    public var offsets: [(adapter: AdapterName, decibels: Double)] = []
    /// Whether to ask advertisers for scan responses. bluetoothd asks if it needs signal strengths.
    public var isActive = false
    /// Whether to receive the LE Coded PHY too, if the controller can. bluetoothd cannot.
    public var usesCodedPHY = false
    /// The seconds without any advert after which the receiver state is `quiet`.
    public var quietTimeout = 30.0
    /// The function that receives every packet, on the receiving thread; only for raw HCI sockets.
    public var packetTap: PacketTap?
    /// The function that receives every report, on the receiving thread; only for raw HCI sockets.
    package var reportTap: ReportTap?

    /// Creates the default configuration.
    public init() {}

    fileprivate var fixed: Backend? {
      if backend != .auto { return backend }
      return packetTap != nil || reportTap != nil || usesCodedPHY || isActive ? .hci : nil
    }

    var quietNanoseconds: Int64 {
      let nanoseconds = quietTimeout * 1e9
      // More than 292 years, and not a number, mean never.
      return nanoseconds < 9.2e18 ? Int64(max(nanoseconds, 0)) : .max
    }
  }

  package let configuration: Configuration

  private let hci: any Scanner
  private let bluez: any Scanner
  private let alternatives: Alternatives<Sighting, ScanDemand, ScannerHealth>
  private let wasUsable = Atomic<Bool>(false)

  /// The nanoseconds without reception after which the other backend is tried, and their interval.
  private static let patience: Int64 = 2_000_000_000
  /// The nanoseconds to wait for bluetoothd if raw HCI sockets can receive, and if they cannot.
  private static let shortLook: Int64 = 500_000_000
  private static let longLook: Int64 = 3_000_000_000

  /// Creates a scanner, which uses no adapter before it receives.
  public convenience init(_ configuration: Configuration = Configuration()) {
    #if !RawHCI
      var configuration = configuration
      // There is no other backend, even while bluetoothd does not run.
      if configuration.fixed == nil { configuration.backend = .bluez }
    #endif
    self.init(
      configuration, hci: HCIScanner(configuration), bluez: BlueZScanner(configuration),
      view: { BlueZView.current(within: $0) })
  }

  /// Creates a scanner on two others. `view` returns bluetoothd's state within some nanoseconds.
  init(
    _ configuration: Configuration, hci: any Scanner, bluez: any Scanner,
    clock: @escaping @Sendable () -> MonotonicTime = { .now },
    view: @escaping @Sendable (Int64) -> BlueZView
  ) {
    self.configuration = configuration
    self.hci = hci
    self.bluez = bluez
    let adapters = configuration.adapters
    let fixed = configuration.fixed
    let rules = Alternatives<Sighting, ScanDemand, ScannerHealth>.Rules(
      patience: Self.patience, search: Self.patience, retry: nil)
    // Raw HCI is the first, bluetoothd the second.
    alternatives = Alternatives([hci.erased, bluez.erased], rules, clock: clock) { left, current in
      if let fixed { return .init(fixed == .bluez ? 1 : 0, reason: "") }
      if let current { return .init(current, reason: "") }
      if let (index, reason) = left.first { return .init(1 - index, reason: reason) }
      let raw = hci.availability
      let limit = raw == .available ? Self.shortLook : Self.longLook
      let choice = BackendChoice.first(hci: raw, bluez: view(limit), of: adapters)
      return .init(choice.backend == .bluez ? 1 : 0, reason: choice.reason ?? "")
    } canReplace: { index in
      guard fixed == nil else { return false }
      let other =
        index == 0 ? view(Self.shortLook).availability(of: adapters) : hci.availability
      return other == .available
    } leaving: { index, _ in
      index == 0 ? "raw HCI sockets received nothing" : "bluetoothd reported nothing"
    }
  }

  /// The adapters' names.
  public var name: String { configuration.adapters.description }

  /// `false`: the radio does not wait for its client.
  public var isRecorded: Bool { false }

  /// The backend in use and the reason; `nil` at rest.
  package var choice: BackendChoice? {
    alternatives.choice.map { choice in
      BackendChoice(
        backend: choice.index == 1 ? .bluez : .hci,
        reason: choice.reason.isEmpty ? nil : choice.reason)
    }
  }

  /// The availability of the two backends, of which one is enough.
  public var availability: ScannerAvailability {
    if let fixed = configuration.fixed { return scanner(of: fixed).availability }
    let known = choice
    let isUsable = known.map { scanner(of: $0.backend).availability == .available } ?? false
    let result =
      isUsable
      ? .available
      : BackendChoice.availability(
        hci: hci.availability, bluez: bluez.availability,
        wasUsable: known != nil || wasUsable.load(ordering: .relaxed))
    if result == .available { wasUsable.store(true, ordering: .relaxed) }
    return result
  }

  /// The counts so far, of both backends.
  public var counts: ScanCounts {
    var counts = hci.counts
    counts += bluez.counts
    return counts
  }

  private func scanner(of backend: Backend) -> any Scanner { backend == .bluez ? bluez : hci }

  /// Waits until something is received or ``wake()`` is called, at most four seconds. It never
  /// throws: it reports a fault as health.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    var progress = try alternatives.receive(for: demand, until: deadline, into: &sightings)
    guard let choice, let reason = choice.reason else { return progress }
    let cost = choice.backend == .bluez ? "; it costs more processor time" : ""
    for index in progress.health.indices where !progress.health[index].isReceptionLost {
      progress.health[index].sentence += "; chosen because \(reason)\(cost)"
    }
    return progress
  }

  /// Ends a wait of ``receive(for:until:into:)``.
  public func wake() { alternatives.wake() }

  /// Switches the scan off.
  public func rest() { alternatives.rest() }
}
