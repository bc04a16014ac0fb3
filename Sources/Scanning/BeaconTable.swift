public import Advertising

/// What is known of each beacon, found by its identity, in bounded memory.
///
/// At most ``capacity`` beacons are kept. When one more comes, the eighth that was heard longest ago
/// makes room, and is counted in ``evictions``: a million invented beacons cost time, not memory.
///
/// Identities come from the air, so an attacker chooses them; they are hashed with a seed drawn for
/// each table. Nothing that the table shows depends on the seed.
public struct BeaconTable<State> {
  /// One beacon's place.
  public struct Entry {
    /// Which beacon.
    public let beacon: BeaconIdentity
    /// When it was last heard.
    public var lastHeard: MonotonicTime
    /// What its owner keeps of it.
    public var state: State

    @usableFromInline
    init(beacon: BeaconIdentity, lastHeard: MonotonicTime, state: State) {
      self.beacon = beacon
      self.lastHeard = lastHeard
      self.state = state
    }
  }

  /// The most beacons that are kept at once.
  public let capacity: Int
  /// How many beacons had to make room.
  public private(set) var evictions = 0
  /// The beacons that are kept, those heard first in front.
  public var entries: [Entry] { storage }

  @usableFromInline
  var storage: [Entry] = []
  @usableFromInline
  var hash: IdentityHash
  /// Open addressing with linear probing: 0 is free, anything else a place in ``entries`` plus 1.
  @usableFromInline
  var slots: [UInt32]

  /// Makes an empty table.
  ///
  /// - Parameter capacity: The most beacons that are kept; at least 8.
  public init(capacity: Int) {
    self.capacity = max(8, capacity)
    hash = IdentityHash()
    slots = Array(repeating: 0, count: 64)
  }

  /// How many different beacons were ever heard, if none came back after it made room.
  public var beaconsHeard: Int { entries.count + evictions }

  /// Notes that a beacon was heard, and changes what is kept of it.
  ///
  /// - Parameters:
  ///   - beacon: Which beacon.
  ///   - time: When it was heard.
  ///   - state: Makes what is kept of a beacon that is not in the table.
  ///   - update: Changes what is kept.
  @inlinable @inline(__always)
  public mutating func hear(
    _ beacon: BeaconIdentity, at time: MonotonicTime, orMake state: () -> State,
    update: (inout State) -> Void
  ) {
    let place = find(beacon) ?? makePlace(for: beacon, heardAt: time, state())
    // One access to the entry, so that the array is asked only once whether it is shared.
    func touch(_ entry: inout Entry) {
      entry.lastHeard = time
      update(&entry.state)
    }
    touch(&storage[place])
  }

  /// Changes what is kept of each beacon, in the order of ``entries``.
  public mutating func updateAll(_ update: (inout Entry) -> Void) {
    for place in storage.indices { update(&storage[place]) }
  }

  /// A beacon's place in ``entries``.
  @inlinable @inline(__always)
  func find(_ beacon: BeaconIdentity) -> Int? {
    let mask = slots.count &- 1
    var slot = Int(truncatingIfNeeded: hash(beacon)) & mask
    while true {
      let occupant = Int(slots[slot])
      if occupant == 0 { return nil }
      if storage[occupant &- 1].beacon == beacon { return occupant &- 1 }
      slot = (slot &+ 1) & mask
    }
  }

  /// Forgets the beacons that a rule names.
  public mutating func removeAll(where isGone: (Entry) -> Bool) {
    let before = storage.count
    storage.removeAll(where: isGone)
    if storage.count != before { rebuild() }
  }

  @usableFromInline
  mutating func makePlace(for beacon: BeaconIdentity, heardAt time: MonotonicTime, _ state: State)
    -> Int
  {
    if storage.count == capacity { makeRoom() }
    storage.append(Entry(beacon: beacon, lastHeard: time, state: state))
    if storage.count * 2 > slots.count {
      slots = Array(repeating: 0, count: slots.count * 2)
      rebuild()
    } else {
      fill(place: storage.count - 1)
    }
    return storage.count - 1
  }

  private mutating func makeRoom() {
    let leaving = max(1, capacity / 8)
    var ages = storage.map(\.lastHeard.nanoseconds)
    let youngest = Self.select(leaving - 1, of: &ages)
    // Of those heard last at that same moment, those that came first leave, so that a replay evicts
    // the same each time.
    var ties = leaving - ages.count { $0 < youngest }
    var kept: [Entry] = []
    kept.reserveCapacity(storage.count)
    for entry in storage {
      let age = entry.lastHeard.nanoseconds
      if age < youngest { continue }
      if age == youngest, ties > 0 {
        ties -= 1
        continue
      }
      kept.append(entry)
    }
    storage = kept
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
    for slot in slots.indices { slots[slot] = 0 }
    for place in storage.indices { fill(place: place) }
  }

  private mutating func fill(place: Int) {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash(storage[place].beacon)) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = UInt32(place + 1)
  }
}

extension BeaconTable: Sendable where State: Sendable {}
extension BeaconTable.Entry: Sendable where State: Sendable {}

/// A seeded hash of a beacon's 20 bytes: two folded 64 × 64 bit multiplications, after Wang Yi's
/// wyhash (<https://github.com/wangyi-fudan/wyhash>).
@usableFromInline
struct IdentityHash: Sendable {
  @usableFromInline
  let seed: (UInt64, UInt64, UInt64)

  init() {
    var random = SystemRandomNumberGenerator()
    seed = (random.next(), random.next(), random.next() | 1)
  }

  @inlinable
  func callAsFunction(_ beacon: BeaconIdentity) -> UInt64 {
    let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
    let first = fold(beacon.uuid.high ^ seed.0, beacon.uuid.low ^ seed.1)
    return fold(first ^ numbers, seed.2)
  }

  @inlinable
  func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
