import Scanning

/// How well each adapter hears now, and who wants to know when that changes.
struct HealthBoard {
  /// The latest of each adapter, in the order in which they were first told of.
  private(set) var latest: [ScannerHealth] = []
  /// What the scanner as a whole suffers from: since when it hears nothing, and why.
  private(set) var fault: ScannerHealth?
  private var listeners: [UInt64: AsyncStream<ScannerHealth>.Continuation] = [:]
  private var latestListener: UInt64 = 0

  /// The most adapters that are remembered; with more, those told of first go.
  static let mostAdapters = 32
  /// The most changes that wait for one listener; with more, the oldest go.
  static let mostWaiting = 64

  /// Takes a change, whose time is that of the clock on the wall, and passes it on.
  ///
  /// - Returns: Whether the scanner heard before, and hears nothing now.
  mutating func note(_ health: ScannerHealth) -> Bool {
    // What is said of all adapters is true of each, and what is said of one is no longer true of all.
    latest.removeAll { known in
      known.isAbout(health) || health.adapter == nil || known.adapter == nil
    }
    latest.append(health)
    if latest.count > Self.mostAdapters { latest.removeFirst() }
    for listener in listeners.values { listener.yield(health) }
    let isNew = fault == nil && health.isReceptionLost
    if isNew || !health.isReceptionLost { fault = health.isReceptionLost ? health : nil }
    return isNew
  }

  /// Takes a listener, and gives it what is known.
  mutating func add(_ listener: AsyncStream<ScannerHealth>.Continuation) -> UInt64 {
    latestListener += 1
    listeners[latestListener] = listener
    for health in latest { listener.yield(health) }
    return latestListener
  }

  /// Forgets a listener.
  mutating func remove(listener number: UInt64) {
    listeners[number] = nil
  }

  /// Nothing more will come. Who listens is to be told when the lock is open.
  mutating func takeListeners() -> [AsyncStream<ScannerHealth>.Continuation] {
    defer { listeners.removeAll() }
    return Array(listeners.values)
  }
}

extension ScannerHealth {
  /// Whether two are about the same adapter: by its address, where both have one.
  fileprivate func isAbout(_ other: ScannerHealth) -> Bool {
    if let address, let theirs = other.address { return address == theirs }
    return adapter == other.adapter
  }
}
