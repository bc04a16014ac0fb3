/// The owner of a controller's scan: this process or another program.
struct ScanOwnership: Sendable {
  /// A way to end the scan of a process that is gone.
  enum Takeover: Hashable, Sendable {
    case sameCommands
    case otherCommands
    case impossible
  }

  private(set) var isOurs = false
  /// Whether this process started a scan since it was last off; another program may have, too.
  private(set) var mayBeOurs = false
  /// Whether to check that no other process can have started the scan that runs.
  private(set) var needsCensus = false
  /// The number of takeovers of scans of processes that are gone, since the last scan of ours.
  private var takeovers = 0

  mutating func started() {
    adopt()
    takeovers = 0
  }

  /// Records that the controller accepted our start while another program's scan runs.
  mutating func startedTwice() { mayBeOurs = true }

  mutating func adopt() { (isOurs, mayBeOurs) = (true, true) }

  /// Records that the scan that runs is not ours, or no longer ours to end.
  mutating func ceded() { isOurs = false }

  /// Records that the scan is off; returns whether it was ours.
  @discardableResult
  mutating func ended() -> Bool {
    defer { (isOurs, mayBeOurs) = (false, false) }
    return isOurs
  }

  /// Requests the census, because another program's scan runs.
  mutating func requestCensus() { needsCensus = true }

  mutating func censusTaken() { needsCensus = false }

  /// Takes over the scan of a process that is gone, and returns the commands to use.
  ///
  /// If the same commands do not help, the controller scans by the other set until its reset.
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
