public import Advertising

/// The places of beacons in an array, found by identity: open addressing with linear probing.
///
/// Identities come from the air, so an attacker chooses them; they are hashed with a seed drawn for each
/// table, by two folded 64 × 64 bit multiplications after Wang Yi's wyhash
/// (<https://github.com/wangyi-fudan/wyhash>). Nothing that is shown depends on the seed.
@usableFromInline
package struct PlaceTable: Sendable {
  /// A beacon and its place.
  @usableFromInline
  struct Slot: Sendable {
    @usableFromInline
    var beacon: BeaconIdentity
    /// The place; -1 for none.
    @usableFromInline
    var place: Int32

    @usableFromInline
    static let empty = Slot(
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 0, low: 0), major: 0, minor: 0), place: -1)

    init(beacon: BeaconIdentity, place: Int32) { (self.beacon, self.place) = (beacon, place) }
  }

  @usableFromInline
  var slots = [Slot](repeating: .empty, count: 64)
  @usableFromInline
  let seed: (UInt64, UInt64, UInt64)
  /// The number of beacons.
  package private(set) var count = 0

  /// Creates an empty table.
  package init() {
    var random = SystemRandomNumberGenerator()
    seed = (random.next(), random.next(), random.next() | 1)
  }

  /// All places, in no order.
  package var places: [Int32] { slots.compactMap { $0.place < 0 ? nil : $0.place } }

  /// Returns a beacon's place; -1 if it has none.
  @inlinable @inline(__always)
  package func find(_ beacon: BeaconIdentity) -> Int32 {
    let mask = slots.count &- 1
    var slot = hash(beacon) & mask
    while true {
      let found = slots[slot]
      if found.place < 0 || found.beacon == beacon { return found.place }
      slot = (slot &+ 1) & mask
    }
  }

  /// Adds a beacon that is not in the table.
  package mutating func add(_ beacon: BeaconIdentity, at place: Int32) {
    count += 1
    if count * 2 > slots.count {
      let old = slots
      slots = Array(repeating: .empty, count: old.count * 2)
      for slot in old where slot.place >= 0 { put(slot) }
    }
    put(Slot(beacon: beacon, place: place))
  }

  /// Removes the beacons at some places.
  package mutating func remove(_ places: Set<Int32>) {
    let kept = slots.filter { $0.place >= 0 && !places.contains($0.place) }
    removeAll()
    for slot in kept { put(slot) }
    count = kept.count
  }

  /// Removes all beacons, and keeps the memory.
  package mutating func removeAll() {
    for slot in slots.indices { slots[slot].place = -1 }
    count = 0
  }

  private mutating func put(_ entry: Slot) {
    let mask = slots.count - 1
    var slot = hash(entry.beacon) & mask
    while slots[slot].place >= 0 { slot = (slot + 1) & mask }
    slots[slot] = entry
  }

  @inlinable @inline(__always)
  func hash(_ beacon: BeaconIdentity) -> Int {
    let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
    let first = fold(beacon.uuid.high ^ seed.0, beacon.uuid.low ^ seed.1)
    return Int(truncatingIfNeeded: fold(first ^ numbers, seed.2))
  }

  @inlinable @inline(__always)
  func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
