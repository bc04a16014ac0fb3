public import Advertising

/// A table of the places of beacons in an array, by identity, with open addressing.
///
/// An attacker can choose identities, so they are hashed with a random seed for each table, by two
/// folded 64 × 64 bit multiplications after Wang Yi's wyhash
/// (<https://github.com/wangyi-fudan/wyhash>). No output depends on the seed.
@usableFromInline
package struct PlaceTable: Sendable {
  @usableFromInline
  struct Slot: Sendable {
    /// The beacon's hash, which determines the slot and spares most comparisons of beacons.
    @usableFromInline
    var hash: UInt32
    @usableFromInline
    var place: Int32

    @inlinable
    init(hash: UInt32, place: Int32) {
      self.hash = hash
      self.place = place
    }

    @inlinable
    static var empty: Slot { Slot(hash: 0, place: -1) }
  }

  @usableFromInline
  var slots = [Slot](repeating: .empty, count: 64)
  @usableFromInline
  let seed: (UInt64, UInt64, UInt64)
  package private(set) var count = 0

  package init() {
    var random = SystemRandomNumberGenerator()
    seed = (random.next(), random.next(), random.next() | 1)
  }

  package var places: [Int32] { slots.compactMap { $0.place < 0 ? nil : $0.place } }

  /// Returns a beacon's place, or -1. The closure returns whether the beacon is at a place.
  @inlinable @inline(__always)
  package func find(_ beacon: BeaconIdentity, isAt: (Int) -> Bool) -> Int32 {
    let mask = slots.count &- 1
    let hash = hash(beacon)
    var slot = Int(hash) & mask
    while true {
      let found = slots[slot]
      if found.place < 0 || found.hash == hash && isAt(Int(found.place)) { return found.place }
      slot = (slot &+ 1) & mask
    }
  }

  /// Returns the place of a beacon in the table, nearly always, without a branch. For others, and
  /// rarely for one in the table, it returns another place or -1.
  @inlinable @inline(__always)
  func likelyPlace(of beacon: BeaconIdentity) -> Int32 {
    let mask = slots.count &- 1
    let hash = hash(beacon)
    let first = slots[Int(hash) & mask]
    let second = slots[(Int(hash) &+ 1) & mask]
    return first.hash == hash ? first.place : second.place
  }

  /// Returns the place of a beacon with the same hash, after some others; -1 if there are no more.
  @usableFromInline @inline(never)
  func place(of beacon: BeaconIdentity, after passed: Int) -> Int32 {
    var left = passed
    return find(beacon) { _ in
      defer { left -= 1 }
      return left == 0
    }
  }

  @usableFromInline
  package mutating func add(_ beacon: BeaconIdentity, at place: Int32) {
    count += 1
    if count * 4 > slots.count {
      let old = slots
      slots = Array(repeating: .empty, count: old.count * 2)
      for slot in old where slot.place >= 0 { put(slot) }
    }
    put(Slot(hash: hash(beacon), place: place))
  }

  @usableFromInline
  package mutating func remove(_ beacon: BeaconIdentity, from place: Int32) {
    let mask = slots.count - 1
    var gap = Int(hash(beacon)) & mask
    while slots[gap].place != place {
      guard slots[gap].place >= 0 else { return }
      gap = (gap + 1) & mask
    }
    count -= 1
    // A later beacon that belongs at or before the gap moves there, or it would not be found.
    var slot = (gap + 1) & mask
    while slots[slot].place >= 0 {
      if (slot - Int(slots[slot].hash)) & mask >= (slot - gap) & mask {
        slots[gap] = slots[slot]
        gap = slot
      }
      slot = (slot + 1) & mask
    }
    slots[gap] = .empty
  }

  /// Removes all beacons, and keeps the memory.
  @usableFromInline
  package mutating func removeAll() {
    for slot in slots.indices { slots[slot] = .empty }
    count = 0
  }

  private mutating func put(_ entry: Slot) {
    let mask = slots.count - 1
    var slot = Int(entry.hash) & mask
    while slots[slot].place >= 0 { slot = (slot + 1) & mask }
    slots[slot] = entry
  }

  @inlinable @inline(__always)
  func hash(_ beacon: BeaconIdentity) -> UInt32 {
    let numbers = UInt64(beacon.numbers)
    let first = fold(beacon.uuid.high ^ seed.0, beacon.uuid.low ^ seed.1)
    return UInt32(truncatingIfNeeded: fold(first ^ numbers, seed.2))
  }

  @inlinable @inline(__always)
  func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}

extension BeaconIdentity {
  /// Both numbers in the order of memory, so that they are loaded at once.
  @inlinable @inline(__always)
  var numbers: UInt32 { UInt32(minor) << 16 | UInt32(major) }

  @inlinable @inline(__always)
  func equals(_ other: BeaconIdentity) -> Bool { uuid == other.uuid && numbers == other.numbers }
}
