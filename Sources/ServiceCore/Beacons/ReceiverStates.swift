import Scanning

/// The latest state of each adapter, as clients were told it.
struct ReceiverStates {
  /// The latest report of each adapter, in the order of their first reports.
  private(set) var latest: [ScannerHealth] = []
  /// Those reports of before the latest rest that no newer one confirms or replaces.
  private var former: [ScannerHealth] = []
  /// Since when the scanner as a whole receives nothing, and why.
  private(set) var fault: ScannerHealth?

  /// The maximum number of adapters; beyond it, those reported first go.
  static let maximumAdapters = 32

  /// Returns whether a report says what clients know: after a rest or a change of the way to receive, a scanner reports
  /// its state anew. A fault that holds after a rest is told again, as a client may have come meanwhile.
  mutating func isKnown(_ health: ScannerHealth) -> Bool {
    let wasBeforeRest = former.contains(where: health.isAbout)
    former.removeAll(where: health.isAbout)
    return latest.contains { $0.isRepetition(of: health) } && !(wasBeforeRest && health.isFault)
  }

  /// Whether the latest reports are faults.
  var areFaults: Bool { !latest.isEmpty && latest.allSatisfy(\.condition.isFault) }

  /// Records that the scanner rests: nobody knows whether a fault lasts.
  mutating func rest() { (fault, former) = (nil, latest) }

  /// Records a change, and returns whether reception was lost by it.
  mutating func update(_ health: ScannerHealth) -> Bool {
    // A report about all adapters replaces those about each, and the other way round.
    latest.removeAll { known in
      known.isAbout(health) || health.adapter == nil || known.adapter == nil
    }
    latest.append(health)
    if latest.count > Self.maximumAdapters { latest.removeFirst() }
    let isNew = fault == nil && health.isReceptionLost
    if isNew || !health.isReceptionLost { fault = health.isReceptionLost ? health : nil }
    return isNew
  }
}
