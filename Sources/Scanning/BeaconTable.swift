public import Advertising

/// What is known of each beacon, found by its identity, in bounded memory.
///
/// At most ``capacity`` beacons are kept. When one more comes, the eighth that was received longest
/// ago makes room, and is counted in ``evictions``: a million invented beacons cost time, not memory.
///
/// Identities come from the air, so an attacker chooses them; they are hashed with a seed drawn for
/// each table. Nothing that the table shows depends on the seed.
@usableFromInline
package struct BeaconTable<State> {
  /// One beacon's place.
  @usableFromInline
  package struct Entry {
    /// Which beacon.
    @usableFromInline
    package let beacon: BeaconIdentity
    /// When it was last received.
    @usableFromInline
    package var lastReceived: MonotonicTime
    /// What its owner keeps of it.
    @usableFromInline
    package var state: State

    @usableFromInline
    init(beacon: BeaconIdentity, lastReceived: MonotonicTime, state: State) {
      self.beacon = beacon
      self.lastReceived = lastReceived
      self.state = state
    }
  }

  /// The most beacons that are kept at once.
  @usableFromInline
  package let capacity: Int
  /// How many beacons had to make room.
  @usableFromInline
  package private(set) var evictions = 0
  /// The beacons that are kept, those received first in front.
  @usableFromInline
  package var entries: [Entry] { storage }

  @usableFromInline
  var storage: [Entry] = []
  @usableFromInline
  var places = PlaceTable()

  /// Makes an empty table.
  ///
  /// - Parameter capacity: The most beacons that are kept; at least 8.
  @usableFromInline
  package init(capacity: Int) { self.capacity = min(max(8, capacity), Int(Int32.max)) }

  /// The number of different beacons ever received, if none came back after it made room.
  @usableFromInline
  package var beaconsReceived: Int { entries.count + evictions }

  /// Records that a beacon was received, and changes what is kept of it.
  ///
  /// - Parameters:
  ///   - beacon: Which beacon.
  ///   - time: When it was received.
  ///   - state: Makes what is kept of a beacon that is not in the table.
  ///   - update: Changes what is kept.
  @inlinable @inline(__always)
  package mutating func update(
    _ beacon: BeaconIdentity, at time: MonotonicTime, orMake state: () -> State,
    update: (inout State) -> Void
  ) {
    let found = Int(places.find(beacon))
    let place = found < 0 ? makePlace(for: beacon, receivedAt: time, state()) : found
    // One access to the entry, so that the array is asked only once whether it is shared.
    func touch(_ entry: inout Entry) {
      entry.lastReceived = time
      update(&entry.state)
    }
    touch(&storage[place])
  }

  /// Changes what is kept of each beacon, in the order of ``entries``.
  @usableFromInline
  package mutating func updateAll(_ update: (inout Entry) -> Void) {
    for place in storage.indices { update(&storage[place]) }
  }

  /// Forgets the beacons that a rule names.
  @usableFromInline
  package mutating func removeAll(where isGone: (Entry) -> Bool) {
    let before = storage.count
    storage.removeAll(where: isGone)
    if storage.count != before { rebuild() }
  }

  @usableFromInline
  mutating func makePlace(
    for beacon: BeaconIdentity, receivedAt time: MonotonicTime, _ state: State
  )
    -> Int
  {
    if storage.count == capacity { makeRoom() }
    storage.append(Entry(beacon: beacon, lastReceived: time, state: state))
    places.add(beacon, at: Int32(storage.count - 1))
    return storage.count - 1
  }

  private mutating func makeRoom() {
    let leaving = max(1, capacity / 8)
    var ages = storage.map(\.lastReceived.nanoseconds)
    let youngest = Self.select(leaving - 1, of: &ages)
    // Of those received last at that same moment, those that came first leave, so that a replay evicts
    // the same each time.
    var ties = leaving - ages.count { $0 < youngest }
    storage.removeAll { entry in
      let age = entry.lastReceived.nanoseconds
      guard age == youngest, ties > 0 else { return age < youngest }
      ties -= 1
      return true
    }
    evictions += leaving
    rebuild()
  }

  /// The number that stands at a place when all are sorted, found without sorting the others:
  /// C. A. R. Hoare's Find (Communications of the ACM 4, 1961).
  private static func select(_ place: Int, of numbers: inout [Int64]) -> Int64 {
    var (low, high) = (0, numbers.count - 1)
    while low < high {
      let pivot = numbers[low + (high - low) / 2]
      var (left, right) = (low, high)
      while left <= right {
        while numbers[left] < pivot { left += 1 }
        while numbers[right] > pivot { right -= 1 }
        if left <= right {
          numbers.swapAt(left, right)
          left += 1
          right -= 1
        }
      }
      if place <= right {
        high = right
      } else if place >= left {
        low = left
      } else {
        break
      }
    }
    return numbers[place]
  }

  private mutating func rebuild() {
    places.removeAll()
    for place in storage.indices { places.add(storage[place].beacon, at: Int32(place)) }
  }
}

extension BeaconTable: Sendable where State: Sendable {}
extension BeaconTable.Entry: Sendable where State: Sendable {}
