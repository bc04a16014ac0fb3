/// A reader of the journal that takes one entry at a time, of some kinds, and has a name and a position of its own.
package struct JournalReader: Sendable {
  /// What follows a position.
  package struct Next: Sendable {
    /// The first entry of the reader's kinds; `nil` where there is none yet.
    package var entry: JournalEntry?
    /// Whether entries between the position and this one are gone.
    package var hasMissed: Bool
    /// The position up to which there is no other entry for the reader.
    package var position: Int64
  }

  package let journal: Journal
  /// The name under which the position outlives the process.
  package let name: String
  /// The kinds of entries that the reader takes.
  package let kinds: Set<String>

  package init(_ journal: Journal, name: String, kinds: Set<String>) {
    self.journal = journal
    self.name = name
    self.kinds = kinds
  }

  /// Returns where the reader goes on: after the entry that it marked last, or, where it is new, after the latest one.
  package func begin() -> Int64 { journal.begin(name) }

  /// Returns what follows a position.
  package func next(after position: Int64) -> Next {
    var batch = journal.read(after: position)
    if batch.hasMissed { batch = journal.missed(after: position) }
    let entry = batch.entries.first { kinds.contains($0.kind) }
    let end = entry?.id ?? .max
    return Next(
      entry: entry, hasMissed: batch.missing.map { $0 < end } ?? false,
      position: entry.map { $0.id - 1 } ?? batch.position)
  }

  /// Returns how many entries follow a position, those in memory.
  package func count(after position: Int64) -> Int {
    journal.read(after: position).entries.count { kinds.contains($0.kind) }
  }

  /// Records that the reader needs no entry up to one any more.
  package func mark(_ position: Int64) { journal.mark(name, position) }
}
