import Regions

/// What a journal says, all lines taken together.
struct Contents: Sendable {
  struct Region: Sendable {
    var stored: StoredRegion
    /// What its line takes, in bytes.
    var bytes: Int
  }

  struct Event: Sendable {
    var stored: StoredEvent
    var bytes: Int
  }

  private(set) var regions: [StoredRegion.Key: Region] = [:]
  /// What is still to be told as far as the journal knows, by rising serial.
  private(set) var events: [Event] = []
  private(set) var authorization: String?
  /// The highest serial so far.
  private(set) var issued: UInt64 = 0
  /// How long the journal would be if it were written anew, nearly.
  private(set) var liveBytes = 0

  /// Takes a record.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - bytes: What its line takes.
  /// - Returns: The serials of events that are not to be told any more; `nil` if it cannot follow
  ///   what came before.
  @discardableResult
  mutating func apply(_ record: Record, bytes: Int) -> [UInt64]? {
    switch record {
    case .put(let region):
      liveBytes += bytes - (regions[region.key]?.bytes ?? 0)
      regions[region.key] = Region(stored: region, bytes: bytes)
    case .remove(let key):
      liveBytes -= regions.removeValue(forKey: key)?.bytes ?? 0
      return dropEvents { $0.key == key }
    case .change(let change, let serial):
      return apply(change, serial, bytes)
    case .event(let event):
      guard event.serial > issued else { return nil }
      add(event, bytes)
    case .issued(let serial):
      issued = max(issued, serial)
    case .authorization(let value):
      authorization = value
    }
    return []
  }

  private mutating func apply(
    _ change: StoredChange, _ serial: UInt64?, _ bytes: Int
  ) -> [UInt64]? {
    if let serial, serial <= issued { return nil }
    if var region = regions[change.key] {
      region.stored.take(change)
      regions[change.key] = region
      if let serial, let event = change.event {
        add(StoredEvent(serial: serial, key: change.key, transition: event), bytes)
      }
    }
    issued = max(issued, serial ?? 0)
    return []
  }

  private mutating func add(_ event: StoredEvent, _ bytes: Int) {
    events.append(Event(stored: event, bytes: bytes))
    issued = event.serial
    liveBytes += bytes
  }

  /// Serials up to this one were given to events.
  mutating func issue(_ serial: UInt64) {
    issued = max(issued, serial)
  }

  /// Forgets events.
  ///
  /// - Returns: Their serials.
  @discardableResult
  mutating func dropEvents(_ isDropped: (StoredEvent) -> Bool) -> [UInt64] {
    var dropped: [UInt64] = []
    events.removeAll { event in
      guard isDropped(event.stored) else { return false }
      dropped.append(event.stored.serial)
      liveBytes -= event.bytes
      return true
    }
    return dropped
  }

  /// How many events may wait; beyond that, of each region the last crossing and what was determined
  /// after it stay.
  var mostEvents: Int { max(Self.leastEvents, 4 * regions.count) }

  /// How many events may wait in any case.
  static let leastEvents = 16384

  /// Forgets what later events of the same region make old.
  ///
  /// - Returns: The serials of what was forgotten.
  mutating func coalesce() -> [UInt64] {
    var crossed: Set<StoredRegion.Key> = []
    var determined: Set<StoredRegion.Key> = []
    var kept: Set<UInt64> = []
    for event in events.reversed().map(\.stored) where !crossed.contains(event.key) {
      switch event.transition.change {
      case .enter, .exit:
        crossed.insert(event.key)
        kept.insert(event.serial)
      case .determined:
        if determined.insert(event.key).inserted { kept.insert(event.serial) }
      }
    }
    return dropEvents { !kept.contains($0.serial) }
  }
}

extension StoredRegion {
  /// Takes a new state.
  mutating func take(_ change: StoredChange) {
    if state != change.state || since == nil { since = change.time }
    (state, silenceLimit) = (change.state, change.silenceLimit?.finite)
  }
}
