public import Advertising

/// What is known of each beacon, found by its identity, in bounded memory.
///
/// At most ``capacity`` beacons are kept. When one more comes, the eighth that was received longest
/// ago makes room, and is counted in ``evictions``: a million invented beacons cost time, not memory.
/// Beacons that stay are not moved then: those that come take the vacant places.
@usableFromInline
package struct BeaconTable<State> {
  /// One beacon.
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

    @inlinable
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
  package var evictions = 0

  /// The entries by their places, and a number for each that grows with its arrival; -1 where it is vacant.
  @usableFromInline
  var storage: [Entry] = []
  @usableFromInline
  var arrivals: [Int] = []
  @usableFromInline
  var lastArrival = 0
  @usableFromInline
  var vacant: [Int] = []
  /// Whether ``storage`` has all entries in the order of their arrival, and nothing else.
  @usableFromInline
  var isOrdered = true
  @usableFromInline
  var places = PlaceTable()

  /// Makes an empty table of so many beacons, of at least 8.
  @usableFromInline
  package init(capacity: Int) { self.capacity = min(max(8, capacity), Int(Int32.max)) }

  /// The number of beacons that are kept.
  @inlinable
  package var count: Int { storage.count - vacant.count }

  /// The number of different beacons ever received, if none came back after it made room.
  @inlinable
  package var beaconsReceived: Int { count + evictions }

  /// The beacons that are kept, those received first in front.
  @inlinable
  package var entries: [Entry] { isOrdered ? storage : order.map { storage[$0] } }

  /// Returns what is kept of a beacon; `nil` if it is not in the table.
  @inlinable
  package func state(of beacon: BeaconIdentity) -> State? {
    let place = Int(places.find(beacon) { storage[$0].beacon == beacon })
    return place < 0 ? nil : storage[place].state
  }

  /// Records that a beacon was received, and changes what is kept of it, which is made for a beacon that is not in
  /// the table.
  @inlinable @inline(__always)
  package mutating func update(
    _ beacon: BeaconIdentity, at time: MonotonicTime, orMake state: () -> State,
    update: (inout State) -> Void
  ) {
    let found = Int(places.find(beacon) { storage[$0].beacon == beacon })
    let place = found < 0 ? makePlace(for: beacon, receivedAt: time, state()) : found
    // One access to the entry, so that the array is asked only once whether it is shared.
    func touch(_ entry: inout Entry) {
      entry.lastReceived = time
      update(&entry.state)
    }
    touch(&storage[place])
  }

  /// Records sightings: as ``update(_:at:orMake:update:)`` for each of them, in one access to the entries.
  @inlinable @inline(__always)
  package mutating func update(
    _ sightings: Span<Sighting>, orMake state: (Sighting) -> State,
    update: (inout State, Sighting) -> Void
  ) {
    var index = 0
    while index < sightings.count {
      index = updateKnown(sightings, from: index, update)
      guard index < sightings.count else { return }
      let sighting = sightings[index]
      _ = makePlace(for: sighting.beacon, receivedAt: sighting.time, state(sighting))
    }
  }

  /// Records sightings up to the first beacon that is not in the table, and returns the index of its sighting.
  @inlinable @inline(__always)
  mutating func updateKnown(
    _ sightings: Span<Sighting>, from start: Int, _ update: (inout State, Sighting) -> Void
  ) -> Int {
    let places = places
    var entries = storage.mutableSpan
    for index in start..<sightings.count {
      let sighting = sightings[index]
      let place = Int(places.find(sighting.beacon) { entries[$0].beacon == sighting.beacon })
      guard place >= 0 else { return index }
      entries[place].lastReceived = sighting.time
      update(&entries[place].state, sighting)
    }
    return sightings.count
  }

  /// Changes what is kept of each beacon, in the order of ``entries``.
  @inlinable
  package mutating func updateAll(_ update: (inout Entry) -> Void) {
    if !isOrdered { keep(entries) }
    for place in storage.indices { update(&storage[place]) }
  }

  /// Forgets the beacons that a rule names.
  @inlinable
  package mutating func removeAll(where isGone: (Entry) -> Bool) {
    if isOrdered, !storage.contains(where: isGone) { return }
    keep(entries.filter { !isGone($0) })
  }

  /// The places in the order of arrival.
  @inlinable
  var order: [Int] {
    storage.indices.filter { arrivals[$0] >= 0 }.sorted { arrivals[$0] < arrivals[$1] }
  }

  /// Keeps these entries, in this order.
  @inlinable
  mutating func keep(_ entries: [Entry]) {
    storage = entries
    arrivals = Array(0..<entries.count)
    (lastArrival, vacant, isOrdered) = (entries.count, [], true)
    places.removeAll()
    for place in entries.indices { places.add(entries[place].beacon, at: Int32(place)) }
  }

  @inlinable @inline(never)
  mutating func makePlace(
    for beacon: BeaconIdentity, receivedAt time: MonotonicTime, _ state: State
  ) -> Int {
    if count == capacity { makeRoom() }
    let entry = Entry(beacon: beacon, lastReceived: time, state: state)
    let place = vacant.popLast() ?? storage.count
    if place < storage.count {
      storage[place] = entry
      arrivals[place] = lastArrival
    } else {
      storage.append(entry)
      arrivals.append(lastArrival)
    }
    lastArrival += 1
    places.add(beacon, at: Int32(place))
    return place
  }

  @inlinable
  mutating func makeRoom() {
    let leaving = max(1, capacity / 8)
    var ages = storage.map(\.lastReceived.nanoseconds)
    let youngest = ages.select(leaving - 1)
    var gone: [Int] = []
    var equal: [Int] = []
    for place in storage.indices {
      let age = storage[place].lastReceived.nanoseconds
      if age < youngest { gone.append(place) } else if age == youngest { equal.append(place) }
    }
    // Of those received last at that same moment, those that came first leave, so that a replay evicts
    // the same each time.
    equal.sort { arrivals[$0] < arrivals[$1] }
    gone += equal.prefix(leaving - gone.count)
    for place in gone {
      places.remove(storage[place].beacon, from: Int32(place))
      arrivals[place] = -1
    }
    // The next beacons come to places side by side.
    vacant = gone.reversed()
    isOrdered = false
    evictions += leaving
  }
}

extension [Int64] {
  /// Returns the number that stands at a place when all are sorted, found without sorting the others, which
  /// changes their order: C. A. R. Hoare's Find (Communications of the ACM 4, 1961).
  @usableFromInline
  mutating func select(_ place: Int) -> Int64 {
    var (low, high) = (0, count - 1)
    while low < high {
      let pivot = self[low + (high - low) / 2]
      var (left, right) = (low, high)
      while left <= right {
        while self[left] < pivot { left += 1 }
        while self[right] > pivot { right -= 1 }
        if left <= right {
          swapAt(left, right)
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
    return self[place]
  }
}

extension BeaconTable: Sendable where State: Sendable {}
extension BeaconTable.Entry: Sendable where State: Sendable {}
