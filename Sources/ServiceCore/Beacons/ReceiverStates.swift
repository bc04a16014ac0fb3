import Scanning

/// The latest state of each adapter.
struct ReceiverStates {
  /// The latest report of each adapter, in the order of their first reports.
  private(set) var latest: [ScannerHealth] = []
  /// Since when the scanner as a whole receives nothing, and why.
  private(set) var fault: ScannerHealth?

  /// The maximum number of adapters; beyond it, those reported first go.
  static let maximumAdapters = 32

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

extension ScannerHealth {
  /// Whether two are about the same adapter: by its address, where both have one.
  fileprivate func isAbout(_ other: ScannerHealth) -> Bool {
    if let address, let theirs = other.address { return address == theirs }
    return adapter == other.adapter
  }
}
