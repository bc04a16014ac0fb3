/// The owner of a controller's scan: this process or another program.
struct ScanOwnership: Sendable {
  enum Takeover: Hashable, Sendable {
    case sameCommands, otherCommands, impossible
  }

  /// Whether the scan that runs is ours to end.
  var isOurs = false
  /// Whether this process started a scan since it was last off; another program may have, too.
  var mayBeOurs = false
  /// Whether to check that no other process can have started the scan that runs.
  var needsCensus = false
  private var takeovers = 0

  mutating func started() {
    adopt()
    takeovers = 0
  }

  mutating func adopt() {
    isOurs = true
    mayBeOurs = true
  }

  @discardableResult
  mutating func ended() -> Bool {
    mayBeOurs = false
    defer { isOurs = false }
    return isOurs
  }

  /// Takes over the scan of a process that is gone, and returns the commands to use. If the same
  /// commands do not help, the controller scans by the other set until its reset.
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
