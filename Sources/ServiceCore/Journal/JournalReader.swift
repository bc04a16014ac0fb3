/// A named reader of the journal, with a position, that takes one entry of some kinds at a time.
package struct JournalReader: Sendable {
  package struct Next: Sendable {
    /// The first entry of the reader's kinds, or `nil`.
    package var entry: JournalEntry?
    /// Whether entries between the position and this one are gone.
    package var hasMissed: Bool
    /// The position through which there is no other entry for the reader.
    package var position: Int64
  }

  package let journal: Journal
  /// The name under which the position outlives the process.
  package let name: String
  package let kinds: Set<String>

  package init(_ journal: Journal, name: String, kinds: Set<String>) {
    self.journal = journal
    self.name = name
    self.kinds = kinds
  }

  package func begin() -> Int64 { journal.begin(name) }

  package func next(after position: Int64) -> Next {
    var batch = journal.read(after: position)
    if batch.hasMissed { batch = journal.missed(after: position) }
    let entry = batch.entries.first { kinds.contains($0.kind) }
    let end = entry?.id ?? .max
    return Next(
      entry: entry, hasMissed: batch.missing.map { $0 < end } ?? false,
      position: entry.map { $0.id - 1 } ?? batch.position)
  }

  /// Returns the number of the reader's entries in memory after a position.
  package func count(after position: Int64) -> Int {
    journal.read(after: position).entries.count { kinds.contains($0.kind) }
  }

  package func mark(_ position: Int64) { journal.mark(name, position) }
}
