import Scanning

/// The latest state of each adapter that was reported to clients.
struct ReceiverStates {
  private(set) var latest: [ScannerHealth] = []
  /// The reports from before the latest pause that no newer one has confirmed or replaced.
  private var former: [ScannerHealth] = []
  /// The report with which reception was lost; `nil` while there is reception.
  private(set) var fault: ScannerHealth?

  /// The maximum number of adapters. Beyond it, the oldest report is removed.
  static let maximumAdapters = 32

  /// Returns whether clients know a report: a scanner repeats its state after a pause. A fault is
  /// reported again, because a client may be new.
  mutating func isKnown(_ health: ScannerHealth) -> Bool {
    let wasBeforeRest = former.contains(where: health.isAbout)
    former.removeAll(where: health.isAbout)
    return latest.contains { $0.isRepetition(of: health) } && !(wasBeforeRest && health.isFault)
  }

  var areFaults: Bool { !latest.isEmpty && latest.allSatisfy(\.condition.isFault) }

  /// Records that the scanner pauses, after which a fault may be over.
  mutating func rest() { (fault, former) = (nil, latest) }

  /// Records a change. Returns whether it lost reception.
  mutating func update(_ health: ScannerHealth) -> Bool {
    // A report about all adapters replaces those about single ones, and vice versa.
    latest.removeAll { BeaconMachine.replaces(health, $0) }
    latest.append(health)
    if latest.count > Self.maximumAdapters { latest.removeFirst() }
    let isNew = fault == nil && health.isReceptionLost
    if isNew || !health.isReceptionLost { fault = health.isReceptionLost ? health : nil }
    return isNew
  }
}
