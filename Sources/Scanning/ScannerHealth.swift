public import Advertising

/// A change of a scanner's receiver state.
///
/// A quiet room and a receiver that cannot receive are different states, and only the scanner can
/// distinguish them. It reports each change once, and once when reception is restored.
public struct ScannerHealth: SourceHealth, Codable {
  /// The new state.
  public var condition: Condition
  /// The start of the state, on the time line of sightings; in the past if it was noticed late.
  public var time: MonotonicTime
  /// The name of the changed adapter on the host, such as `hci0`; `nil` for all adapters.
  public var adapter: String?
  /// That adapter's address, if known: names change, addresses stay.
  public var address: BluetoothAddress?
  /// Whether the scanner as a whole receives nothing from ``time`` on, or each advert only once: no
  /// other adapter receives more. The absence of sightings then means nothing.
  public var isReceptionLost: Bool
  /// One sentence without a full stop: what happened, where, and what fixes it.
  public var sentence: String

  /// Whether the scanner as a whole receives nothing: ``isReceptionLost``.
  public var isFault: Bool { isReceptionLost }

  /// The availability of the scanner in this state.
  public var availability: ScannerAvailability {
    isReceptionLost ? ScannerAvailability(fault: condition, sentence) : .available
  }

  /// Returns whether another change reports the same of the same adapter.
  public func isRepetition(of other: ScannerHealth) -> Bool {
    condition == other.condition && isReceptionLost == other.isReceptionLost
      && sentence == other.sentence && isAbout(other)
  }

  /// Returns whether another change is of the same adapter, compared by address if both have one.
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
    /// The adapter receives everything that it should.
    case scanning
    /// Another program started the scan and decides how it runs; its reports are received.
    case shared
    /// Another program took over a running scan. The controller may report each advert only once.
    case takenOver
    /// Another program switched the scan off; it is being switched on again.
    case stopped
    /// No advert of any kind has come for a long time: an empty place, or no antenna.
    case quiet
    /// Reports came faster than they were read, and some were lost.
    case lossy
    /// The adapter is switched off.
    case down
    /// The adapter is switched off by rfkill.
    case blocked
    /// The adapter was removed.
    case removed
    /// The controller reported its own fault and is being reset.
    case hardwareError
    /// The controller does not answer.
    case notAnswering
    /// The controller refuses to scan.
    case refused
    /// A system call failed, for example because too many files are open.
    case systemError
    /// This process has no permission to scan.
    case notPermitted
    /// The system has no Bluetooth.
    case noBluetooth

    /// Whether an adapter receives nothing in this state. Other adapters of the scanner may still
    /// receive: see ``ScannerHealth/isReceptionLost``.
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

extension ScannerAvailability {
  /// Creates the availability of a scanner that cannot receive, with the sentence for people.
  package init(fault condition: ScannerHealth.Condition, _ sentence: String) {
    self = condition == .notPermitted ? .notPermitted(sentence) : .unavailable(sentence)
  }
}
