// The table of beacons in bounded memory, beside a plain dictionary. Input: a byte for the capacity,
// then pairs of a step in time and a beacon.

import Advertising
import Scanning

func check(_ bytes: [UInt8]) {
  var feed = Feed(bytes)
  let capacity = Int(feed.byte() & 0x3F)
  let kept = max(8, capacity)
  var table = BeaconTable<Int>(capacity: capacity)
  require(table.capacity == kept, "a capacity of \(table.capacity)")
  // In the order of arrival.
  var plain: [(beacon: BeaconIdentity, lastReceived: Int64, state: Int)] = []
  var evictions = 0
  var time: Int64 = 0
  var made = 0
  while !feed.isEmpty {
    let step = feed.byte()
    time += Int64(step & 0x0F)
    if step >= 0xF0 {
      let limit = time - 20
      table.removeAll { $0.lastReceived.nanoseconds < limit }
      plain.removeAll { $0.lastReceived < limit }
    } else {
      let beacon = identity(feed.byte())
      made += 1
      table.update(beacon, at: MonotonicTime(nanoseconds: time)) {
        made * 1000
      } update: {
        $0 += 1
      }
      if let index = plain.firstIndex(where: { $0.beacon == beacon }) {
        plain[index].lastReceived = time
        plain[index].state += 1
      } else {
        if plain.count == kept {
          let leaving = max(1, kept / 8)
          let oldest = plain.enumerated().sorted {
            ($0.element.lastReceived, $0.offset) < ($1.element.lastReceived, $1.offset)
          }.prefix(leaving).map(\.offset)
          plain = plain.enumerated().filter { !oldest.contains($0.offset) }.map(\.element)
          evictions += leaving
        }
        plain.append((beacon, time, made * 1000 + 1))
      }
    }
    require(table.evictions == evictions, "\(table.evictions) made room, not \(evictions)")
    require(table.beaconsReceived == plain.count + evictions, "beacons heard")
    require(
      table.entries.elementsEqual(plain) {
        $0.beacon == $1.beacon && $0.lastReceived.nanoseconds == $1.lastReceived
          && $0.state == $1.state
      }, "the table keeps other beacons")
  }
}

/// 256 identities that differ in every part.
private func identity(_ number: UInt8) -> BeaconIdentity {
  BeaconIdentity(
    uuid: ProximityUUID(high: UInt64(number & 3) << 62, low: UInt64(number >> 2 & 3)),
    major: UInt16(number >> 4 & 3) << 14, minor: UInt16(number >> 6))
}
