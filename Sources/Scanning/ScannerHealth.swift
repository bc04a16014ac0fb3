public import Advertising

/// A change of a scanner's receiver state.
///
/// A quiet room and a receiver that cannot receive are different states, and only the scanner can distinguish them.
/// It reports each change once, and once when reception is restored.
public struct ScannerHealth: SourceHealth, Codable {
  /// The state from now on.
  public var condition: Condition
  /// When the state began, on the line of sightings. A change that is noticed late began earlier: then this
  /// lies before the moment that had been reached.
  public var time: MonotonicTime
  /// The name on the host of the adapter that changed, such as `hci0`; `nil` for all adapters.
  public var adapter: String?
  /// That adapter's address, where it is known: names change, addresses stay.
  public var address: BluetoothAddress?
  /// Whether from ``time`` on the scanner as a whole receives nothing, or each advert only once: of several
  /// adapters, no other one receives more. The absence of sightings then means nothing.
  public var isReceptionLost: Bool
  /// What happened, where, and what fixes it: one sentence without a full stop.
  public var sentence: String

  /// Whether the scanner as a whole receives nothing: ``isReceptionLost``.
  public var isFault: Bool { isReceptionLost }

  /// Whether the scanner can be used in this state.
  public var availability: ScannerAvailability {
    guard isReceptionLost else { return .available }
    return condition == .notPermitted ? .notPermitted(sentence) : .unavailable(sentence)
  }

  /// Returns whether another change says the same of the same adapter.
  public func isRepetition(of other: ScannerHealth) -> Bool {
    condition == other.condition && isReceptionLost == other.isReceptionLost
      && sentence == other.sentence && isAbout(other)
  }

  /// Returns whether another change is of the same adapter: by its address, where both have one.
  package func isAbout(_ other: ScannerHealth) -> Bool {
    if let address, let theirs = other.address { return address == theirs }
    return adapter == other.adapter
  }

  /// Creates a change.
  public init(
    _ condition: Condition, at time: MonotonicTime, adapter: String? = nil,
    address: BluetoothAddress? = nil, isReceptionLost: Bool, sentence: String
  ) {
    self.condition = condition
    self.time = time
    self.adapter = adapter
    self.address = address
    self.isReceptionLost = isReceptionLost
    self.sentence = sentence
  }

  /// The states of a receiver.
  public enum Condition: String, Sendable, CaseIterable, Codable {
    /// The adapter receives all that it should.
    case scanning
    /// Another program started the scan; its reports are received, but that program decides how it scans.
    case shared
    /// Another program took a running scan over. The controller may report each advert only once.
    case takenOver
    /// Another program switched the scan off; it is being switched on again.
    case stopped
    /// No advert of any kind has come for long: an empty place, or no antenna.
    case quiet
    /// Reports came faster than they were read, and some were lost.
    case lossy
    /// The adapter is switched off.
    case down
    /// The adapter is switched off by rfkill.
    case blocked
    /// The adapter is gone.
    case removed
    /// The controller reported a fault of its own and is being reset.
    case hardwareError
    /// The controller does not answer.
    case notAnswering
    /// The controller answers that it will not scan.
    case refused
    /// A system call failed, such as one that opens a file where too many are open.
    case systemError
    /// This process has no permission to scan.
    case notPermitted
    /// The system has no Bluetooth.
    case noBluetooth

    /// Whether an adapter receives nothing in this state. A scanner with other adapters may receive all the
    /// same: ``ScannerHealth/isReceptionLost``.
    public var isFault: Bool {
      switch self {
      case .scanning, .shared, .takenOver, .quiet, .lossy: false
      case .stopped, .down, .blocked, .removed, .hardwareError, .notAnswering, .refused,
        .systemError, .notPermitted, .noBluetooth:
        true
      }
    }
  }
}
