public import Advertising

/// The state of each beacon, found by its identity, in bounded memory.
///
/// The table keeps at most ``capacity`` beacons. When one more comes, the eighth of them that was
/// received longest ago is removed and counted in ``evictions``: a million invented beacons cost
/// time, not memory. The other beacons keep their places, and new ones take the vacant places.
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

  /// The number of different beacons ever received, if none came back after its removal.
  @inlinable
  package var beaconsReceived: Int { count + evictions }

  /// The entries in the order of arrival.
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

  /// Records sightings as ``update(_:at:orMake:update:)`` does, in one access to the entries.
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

  /// Records sightings up to the first unknown beacon, and returns the index of its sighting.
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

  @inlinable
  package mutating func updateAll(_ update: (inout Entry) -> Void) {
    if !isOrdered { keep(entries) }
    for place in storage.indices { update(&storage[place]) }
  }

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

  /// Replaces all entries, in this order.
  @inlinable
  mutating func keep(_ entries: [Entry]) {
    storage = entries
    arrivals = Array(0..<entries.count)
    lastArrival = entries.count
    vacant = []
    isOrdered = true
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
