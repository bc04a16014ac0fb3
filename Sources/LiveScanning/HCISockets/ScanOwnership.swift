/// The owner of the scan that a controller runs: this process, or another program.
struct ScanOwnership: Sendable {
  /// A way to end the scan of a process that is gone.
  enum Takeover: Hashable, Sendable {
    /// Start with the commands that were used before.
    case sameCommands
    /// Start with those of the other command set.
    case otherCommands
    /// Neither helped.
    case impossible
  }

  /// Indicates whether the scan that runs is one that this process started.
  private(set) var isOurs = false
  /// Indicates whether this process has started a scan since it was last off: another program may
  /// have done the same then.
  private(set) var mayBeOurs = false
  /// Indicates whether it is to be found out that no other process can have started the scan that
  /// runs.
  private(set) var needsCensus = false
  /// The number of takeovers of the scan of a process that is gone, without a scan of ours since.
  private var takeovers = 0

  /// Records that a scan of ours runs.
  mutating func started() {
    adopt()
    takeovers = 0
  }

  /// Records that the controller took our command to start while another program's scan runs.
  mutating func startedTwice() { mayBeOurs = true }

  /// Takes the scan that runs for ours.
  mutating func adopt() { (isOurs, mayBeOurs) = (true, true) }

  /// Records that a scan that runs is not ours, or not ours to end any more.
  mutating func ceded() { isOurs = false }

  /// Records that the scan is off; returns whether it was ours.
  @discardableResult
  mutating func ended() -> Bool {
    defer { (isOurs, mayBeOurs) = (false, false) }
    return isOurs
  }

  /// Requests the census, as another program's scan runs.
  mutating func requestCensus() { needsCensus = true }

  /// Records that the census was taken.
  mutating func censusTaken() { needsCensus = false }

  /// Takes over the scan of a process that is gone, and returns the commands with which.
  ///
  /// If the same commands do not help, the controller was given those of the other way to scan, and
  /// takes no others until it is reset.
  mutating func takeOver() -> Takeover {
    takeovers += 1
    guard takeovers <= 2 else {
      takeovers = 0
      return .impossible
    }
    adopt()
    return takeovers == 2 ? .otherCommands : .sameCommands
  }
}
