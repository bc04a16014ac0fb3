internal import Advertising

/// The places of beacons, found by identity: open addressing with linear probing.
///
/// Identities come from the air, so an attacker chooses them; they are hashed with a seed drawn for each
/// table, by two folded 64 × 64 bit multiplications after Wang Yi's wyhash
/// (<https://github.com/wangyi-fudan/wyhash>). Nothing that is shown depends on the seed.
struct PlaceTable: Sendable {
  /// A beacon and where it is.
  private struct Slot: Sendable {
    var beacon: BeaconIdentity
    /// The place; -1 for none.
    var place: Int32
  }

  private static let empty = Slot(
    beacon: BeaconIdentity(uuid: ProximityUUID(high: 0, low: 0), major: 0, minor: 0), place: -1)

  private var slots = [Slot](repeating: PlaceTable.empty, count: 64)
  private let seed: (UInt64, UInt64, UInt64)
  /// The number of beacons.
  private(set) var count = 0

  init() {
    var random = SystemRandomNumberGenerator()
    seed = (random.next(), random.next(), random.next() | 1)
  }

  /// All places, in no order.
  var places: [Int32] { slots.compactMap { $0.place < 0 ? nil : $0.place } }

  /// Returns a beacon's place; -1 if it has none.
  @inline(__always)
  func find(_ beacon: BeaconIdentity) -> Int32 {
    let mask = slots.count &- 1
    var slot = hash(beacon) & mask
    while true {
      let found = slots[slot]
      if found.place < 0 || found.beacon == beacon { return found.place }
      slot = (slot &+ 1) & mask
    }
  }

  /// Adds a beacon that is not in the table.
  mutating func add(_ beacon: BeaconIdentity, at place: Int32) {
    count += 1
    if count * 2 > slots.count {
      let old = slots
      slots = Array(repeating: Self.empty, count: old.count * 2)
      for slot in old where slot.place >= 0 { put(slot) }
    }
    put(Slot(beacon: beacon, place: place))
  }

  /// Removes the beacons at some places.
  mutating func remove(_ places: Set<Int32>) {
    let kept = slots.filter { $0.place >= 0 && !places.contains($0.place) }
    slots = Array(repeating: Self.empty, count: slots.count)
    for slot in kept { put(slot) }
    count = kept.count
  }

  private mutating func put(_ entry: Slot) {
    let mask = slots.count - 1
    var slot = hash(entry.beacon) & mask
    while slots[slot].place >= 0 { slot = (slot + 1) & mask }
    slots[slot] = entry
  }

  @inline(__always)
  private func hash(_ beacon: BeaconIdentity) -> Int {
    let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
    let first = fold(beacon.uuid.high ^ seed.0, beacon.uuid.low ^ seed.1)
    return Int(truncatingIfNeeded: fold(first ^ numbers, seed.2))
  }

  @inline(__always)
  private func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}
