/// Reads a journal: takes all calls that are whole, and tells damage from a last call that was cut off.
///
/// Calls are numbered and stand in the file in that order. Bad bytes that only the call after the last
/// whole one could have written, and that no later call follows, are what a crash leaves of an append:
/// that call did not return. All other bad bytes are damage.
struct JournalReader {
  /// What was found.
  struct Outcome {
    var contents = Contents()
    /// All events up to this serial were delivered, by what the journal says.
    var delivered: UInt64 = 0
    /// The number of the last whole call.
    var lastCall: UInt64 = 0
    /// Where it ends, in bytes.
    var soundEnd = 0
    /// How long the file is, in bytes.
    var size = 0
    /// The first damaged line, counted from 1.
    var damage: Int?
    /// The version of the header, if it is newer than ours.
    var newer: Int?
    /// Whether a whole line was dropped from the end, which a killed process alone does not leave.
    var hasBadEnd = false
  }

  private var outcome = Outcome()
  private var line = 0
  /// The records of a call of which not all lines were read yet.
  private var held: [(record: Record, bytes: Int)] = []
  /// The first bad line since the last whole call.
  private var suspect: Int?

  /// Reads a whole file.
  static func read(_ file: borrowing OpenFile) throws(StoreError) -> Outcome {
    var reader = JournalReader()
    reader.outcome.size = try file.size()
    guard reader.outcome.size <= Journal.mostBytes else {
      reader.outcome.damage = 1
      return reader.outcome
    }
    var lines = LineReader()
    while let next = try lines.next(of: file) {
      reader.line += 1
      switch next {
      case .whole(let bytes) where reader.line == 1:
        reader.takeHeader(bytes)
        if reader.outcome.newer != nil { return reader.outcome }
      case .whole(let bytes): reader.take(bytes)
      case .tooLong where reader.line == 1: reader.outcome.damage = 1
      case .tooLong: reader.takeBad()
      }
      if reader.held.isEmpty, reader.suspect == nil { reader.outcome.soundEnd = lines.offset }
    }
    if reader.line == 0, reader.outcome.size > 0 { reader.outcome.damage = 1 }
    reader.outcome.hasBadEnd = reader.suspect != nil
    return reader.outcome
  }

  private mutating func takeHeader(_ bytes: [UInt8]) {
    switch JournalLine.head(bytes) {
    case .sound: return
    case .newer(let version): outcome.newer = version
    case .damaged: outcome.damage = 1
    }
  }

  private mutating func take(_ bytes: [UInt8]) {
    switch JournalLine.read(bytes) {
    case nil: takeBad()
    case .unreadable: takeDamage()
    case .record(let record, let form): take(record, form, bytes.count + 1)
    }
  }

  private mutating func takeBad() {
    if suspect == nil { suspect = line }
    held = []
  }

  private mutating func takeDamage() {
    outcome.damage = outcome.damage ?? suspect ?? line
    suspect = nil
    held = []
  }

  private mutating func take(_ record: Record, _ form: LineForm, _ bytes: Int) {
    if suspect != nil {
      // The rest of the call that was cut off.
      if form.call == outcome.lastCall + 1 { return }
      takeDamage()
    }
    if form.call != outcome.lastCall + 1 {
      takeDamage()
      // What was said before is not said again.
      guard form.call > outcome.lastCall else { return }
      outcome.lastCall = form.call - 1
    }
    guard form.part ?? 1 == held.count + 1, form.of ?? 1 > held.count else {
      takeDamage()
      // Without its first lines, the call is not whole.
      suspect = line
      return
    }
    held.append((record, bytes))
    guard held.count == form.of ?? 1 else { return }
    for (record, bytes) in held {
      if outcome.contents.apply(record, bytes: bytes) == nil { takeDamage() }
    }
    outcome.lastCall = form.call
    outcome.delivered = max(outcome.delivered, form.delivered ?? 0)
    held = []
  }
}
