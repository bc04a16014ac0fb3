public import Advertising

/// A change in how well a scanner hears.
///
/// A quiet room and a deaf radio are different things, and only the scanner can tell which it is: it says
/// so once when something changes, and once when all is well again. What was said holds until something
/// else is, also while nobody listens.
public struct ScannerHealth: Hashable, Sendable {
  /// How it is from now on.
  public var condition: Condition
  /// Since when, on the line of sightings. What was noticed late began earlier: then this lies before what
  /// had been reached.
  public var time: MonotonicTime
  /// The adapter that it is about, by its name on the host, such as `hci0`; `nil` for all.
  public var adapter: String?
  /// That adapter's address, where it is known: names change, addresses stay.
  public var address: BluetoothAddress?
  /// Whether from ``time`` on the scanner as a whole hears nothing, or each advert only once: with several
  /// adapters, no other one hears more. What is not heard then is no silence.
  public var isDeaf: Bool
  /// What is the matter, where, and what mends it: one sentence without a full stop.
  public var sentence: String

  /// Makes a change.
  public init(
    _ condition: Condition, at time: MonotonicTime, adapter: String? = nil,
    address: BluetoothAddress? = nil, isDeaf: Bool, sentence: String
  ) {
    self.condition = condition
    self.time = time
    self.adapter = adapter
    self.address = address
    self.isDeaf = isDeaf
    self.sentence = sentence
  }

  /// What can be the matter.
  public enum Condition: String, Sendable, CaseIterable {
    /// It hears everything that it should.
    case scanning
    /// Another program started the scan; its reports are heard, but how it scans is not ours to say.
    case shared
    /// Another program took a running scan over. The controller may report each advert only once.
    case takenOver
    /// Someone switched the scan off; it is switched on again.
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
    /// The controller told of a fault of its own and is being reset.
    case hardwareError
    /// The controller does not answer.
    case notAnswering
    /// The controller answers that it will not scan.
    case refused
    /// This process may not scan.
    case notPermitted
    /// The system has no Bluetooth.
    case noBluetooth

    /// Whether an adapter hears nothing in this condition. A scanner with others may hear all the same:
    /// ``ScannerHealth/isDeaf``.
    public var isFault: Bool {
      switch self {
      case .scanning, .shared, .takenOver, .quiet, .lossy: false
      case .stopped, .down, .blocked, .removed, .hardwareError, .notAnswering, .refused,
        .notPermitted, .noBluetooth:
        true
      }
    }
  }
}
