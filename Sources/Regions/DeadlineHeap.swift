/// Deadlines in order of time: a binary heap.
///
/// An entry may be out of date. Its owner knows, and skips it when it comes up.
struct DeadlineHeap: Sendable {
  /// Whose deadline it is.
  enum Owner: UInt8, Sendable {
    case region
    case beacon
  }

  struct Entry: Sendable {
    /// Nanoseconds of hearing time.
    var time: Int64
    var owner: Owner
    /// The owner's place.
    var place: Int32
    /// Which owner it was that had this place.
    var serial: UInt32

    static func < (left: Entry, right: Entry) -> Bool {
      (left.time, left.owner.rawValue, left.place, left.serial)
        < (right.time, right.owner.rawValue, right.place, right.serial)
    }
  }

  private(set) var entries: [Entry] = []

  var first: Entry? { entries.first }

  mutating func push(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child] < entries[parent] else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard let last = entries.popLast(), !entries.isEmpty else { return }
    entries[0] = last
    var parent = 0
    while true {
      var least = parent
      let child = 2 * parent + 1
      if child < entries.count, entries[child] < entries[least] { least = child }
      if child + 1 < entries.count, entries[child + 1] < entries[least] { least = child + 1 }
      if least == parent { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }

  /// Drops the entries that are out of date.
  mutating func keep(_ isCurrent: (Entry) -> Bool) {
    // A sorted array is a heap.
    entries = entries.filter(isCurrent).sorted(by: <)
  }
}
