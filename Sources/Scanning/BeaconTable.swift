public import Advertising

/// The state of each beacon, found by its identity, in bounded memory.
///
/// When one more than ``capacity`` comes, the eighth of them that was received longest ago is
/// removed and counted in ``evictions``. The others keep their places, and new ones take the
/// vacant.
@usableFromInline
package struct BeaconTable<State> {
  @usableFromInline
  package struct Entry {
    @usableFromInline
    package let beacon: BeaconIdentity
    @usableFromInline
    package var lastReceived: MonotonicTime
    @usableFromInline
    package var state: State

    @inlinable
    init(beacon: BeaconIdentity, lastReceived: MonotonicTime, state: State) {
      self.beacon = beacon
      self.lastReceived = lastReceived
      self.state = state
    }
  }

  @usableFromInline
  package let capacity: Int
  /// The number of beacons that were removed for lack of room.
  @usableFromInline
  package var evictions = 0

  /// The entries by place, and their numbers in the order of arrival, -1 for a vacant place.
  @usableFromInline
  var storage: [Entry] = []
  @usableFromInline
  var arrivals: [Int] = []
  @usableFromInline
  var lastArrival = 0
  @usableFromInline
  var vacant: [Int] = []
  /// Whether ``storage`` holds all entries in the order of arrival, without vacant places.
  @usableFromInline
  var isOrdered = true
  @usableFromInline
  var places = PlaceTable()

  /// Creates an empty table for a number of beacons, at least 8.
  package init(capacity: Int) { self.capacity = min(max(8, capacity), Int(Int32.max)) }

  @inlinable
  package var count: Int { storage.count - vacant.count }

  @inlinable
  package var beaconsReceived: Int { count + evictions }

  @inlinable
  package var entries: [Entry] { isOrdered ? storage : order.map { storage[$0] } }

  @inlinable
  package func state(of beacon: BeaconIdentity) -> State? {
    let place = Int(places.find(beacon) { storage[$0].beacon == beacon })
    return place < 0 ? nil : storage[place].state
  }

  /// Records that a beacon was received and updates its state, or makes one for a new beacon.
  @inlinable @inline(__always)
  package mutating func update(
    _ beacon: BeaconIdentity, at time: MonotonicTime, orMake state: () -> State,
    update: (inout State) -> Void
  ) {
    let found = Int(places.find(beacon) { storage[$0].beacon == beacon })
    let place = found < 0 ? makePlace(for: beacon, receivedAt: time, state()) : found
    // One access to the entry, so that the array's uniqueness is checked only once.
    func touch(_ entry: inout Entry) {
      entry.lastReceived = time
      update(&entry.state)
    }
    touch(&storage[place])
  }

  /// Records sightings of known beacons, in one access to the entries, from an index up to the
  /// first one of an unknown beacon or for which the closure returns `false` without a change.
  /// Returns its index, or the number of sightings.
  @inlinable @inline(__always)
  package mutating func updateKnown(
    _ sightings: Span<Sighting>, from start: Int, _ update: (inout State, Sighting) -> Bool
  ) -> Int {
    let places = places
    var entries = storage.mutableSpan
    var likely = InlineArray<64, Int32>(repeating: -1)
    // Few at first, because a crowd of unknown beacons ends each call soon.
    var ahead = 4
    var index = start
    while index < sightings.count {
      // The look-ups of several sightings do not depend on each other, so the processor waits for
      // their memory at the same time.
      let end = min(index &+ ahead, sightings.count)
      for next in index..<end {
        likely[next & 63] = places.likelyPlace(of: sightings[next].beacon)
      }
      ahead = min(ahead &* 2, 64)
      while index < end {
        // A place of -1 is beyond the entries.
        var place = Int(UInt32(bitPattern: likely[index & 63]))
        var passed = 0
        while place >= entries.count || !entries[place].beacon.equals(sightings[index].beacon) {
          place = Int(places.place(of: sightings[index].beacon, after: passed))
          guard place >= 0 else { return index }
          passed &+= 1
        }
        func touch(_ entry: inout Entry) -> Bool {
          let sighting = sightings[index]
          guard update(&entry.state, sighting) else { return false }
          entry.lastReceived = sighting.time
          return true
        }
        guard touch(&entries[place]) else { return index }
        index &+= 1
      }
    }
    return index
  }

  @inlinable
  package mutating func updateAll(_ update: (inout Entry) -> Void) {
    if !isOrdered { arrange { _ in true } }
    for place in storage.indices { update(&storage[place]) }
  }

  @inlinable
  package mutating func removeAll(where isGone: (Entry) -> Bool) {
    if isOrdered, !storage.contains(where: isGone) { return }
    arrange { !isGone($0) }
  }

  @inlinable
  var order: [Int] {
    storage.indices.filter { arrivals[$0] >= 0 }.sorted { arrivals[$0] < arrivals[$1] }
  }

  /// Puts the entries in the order of arrival, and removes some, without a copy of the table.
  @inlinable
  mutating func arrange(keeping isKept: (Entry) -> Bool) {
    if !isOrdered {
      var sources = order
      for place in sources.indices {
        // An entry that made way is where the one in its place came from.
        var source = sources[place]
        while source < place { source = sources[source] }
        storage.swapAt(place, source)
        sources[place] = source
      }
      storage.removeLast(storage.count - sources.count)
    }
    storage.removeAll { !isKept($0) }
    arrivals = Array(storage.indices)
    lastArrival = storage.count
    vacant = []
    isOrdered = true
    places.removeAll()
    for place in storage.indices { places.add(storage[place].beacon, at: Int32(place)) }
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
    // Among equal times, the first to arrive are removed, so that every replay evicts the same.
    let byAge = storage.indices.sorted { left, right in
      let difference = storage[left].lastReceived.nanoseconds(since: storage[right].lastReceived)
      return difference == 0 ? arrivals[left] < arrivals[right] : difference < 0
    }
    let gone = byAge.prefix(max(1, capacity / 8))
    for place in gone {
      places.remove(storage[place].beacon, from: Int32(place))
      arrivals[place] = -1
    }
    // The next beacons get adjacent places.
    vacant = gone.sorted(by: >)
    isOrdered = false
    evictions += gone.count
  }
}

extension BeaconTable: Sendable where State: Sendable {}
extension BeaconTable.Entry: Sendable where State: Sendable {}
