import Advertising
import Bytes
import TestSupport
import Testing

/// The walk over the structures of an advert.
@Suite struct ADStructuresTests {
  @Test func severalInOne() {
    let walk = Walk([0x02, 0x01, 0x06, 0x01, 0x0A, 0x03, 0xFF, 0x4C, 0x00], base: 7)
    #expect(
      walk
        == Walk(giving: [
          .init(type: 0x01, data: [0x06], offset: 7), .init(type: 0x0A, data: [], offset: 10),
          .init(type: 0xFF, data: [0x4C, 0x00], offset: 12),
        ]))
  }

  @Test func nothingHoldsNothing() {
    #expect(Walk([]) == Walk(giving: []))
  }

  /// A length of zero ends the advert, whatever follows it.
  @Test(arguments: [[0], [0, 0, 0], [0, 0x02, 0x01, 0x06], [0, 0xFF], [0, 0xFF, 0xFF]])
  func earlyTermination(rest: [UInt8]) {
    let flags = Walk.Structure(type: 0x01, data: [0x06], offset: 0)
    #expect(Walk(rest) == Walk(giving: []))
    #expect(Walk([0x02, 0x01, 0x06] + rest) == Walk(giving: [flags]))
  }

  /// Every length byte, over every number of bytes that may follow it.
  @Test(arguments: 1...255 as ClosedRange<UInt8>)
  func overrunAtEveryLength(length: UInt8) {
    let body = (0..<Int(length)).map { UInt8(truncatingIfNeeded: $0) }
    let front: [UInt8] = [0x02, 0x01, 0x06]
    let flags = Walk.Structure(type: 0x01, data: [0x06], offset: 100)
    for available in 0..<Int(length) {
      let error = ParseError(
        .truncated(needed: Int(length), available: available), at: 103)
      let walk = Walk(front + [length] + body.prefix(available), base: 100)
      #expect(walk == Walk(giving: [flags], error: error))
    }
    let whole = Walk(front + [length] + body, base: 100)
    let last = Walk.Structure(type: 0, data: Array(body.dropFirst()), offset: 103)
    #expect(whole == Walk(giving: [flags, last]))
    #expect(Walk(front + [length] + body + [0], base: 100) == whole)
  }

  /// Every prefix of an advert gives the structures before the cut, then an error at the cut one.
  @Test func everyPrefix() {
    let frame = IBeacon(
      identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4),
      measuredPower: -59)
    let advert = frame.advertisingData + [0x03, 0x03, 0xAA, 0xFE]
    let whole = Walk(advert)
    #expect(whole.structures.count == 3)
    for cut in 0..<advert.count {
      let walk = Walk(Array(advert.prefix(cut)))
      let before = whole.structures.filter { $0.offset + 2 + $0.data.count <= cut }
      #expect(walk.structures == before)
      let end = before.last.map { $0.offset + 2 + $0.data.count } ?? 0
      #expect(walk.error?.offset == (cut == end ? nil : end))
      #expect(walk.isOver)
    }
  }

  /// Whatever the bytes are, the structures lie inside them, one behind the other.
  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var bytes = random.bytes(Int.random(in: 0...255, using: &random))
      // Short lengths, so that walks are long.
      for index in bytes.indices where random.next() % 2 == 0 { bytes[index] %= 8 }
      let walk = Walk(bytes)
      var position = 0
      for structure in walk.structures {
        #expect(structure.offset == position, "seed \(seed)")
        #expect(Int(bytes[position]) == structure.data.count + 1, "seed \(seed)")
        #expect(structure.type == bytes[position + 1], "seed \(seed)")
        position += 2 + structure.data.count
        #expect(structure.data == Array(bytes[..<position].suffix(structure.data.count)))
      }
      if let error = walk.error {
        #expect(error.offset == position, "seed \(seed)")
      } else {
        #expect(position == bytes.count || bytes[position] == 0, "seed \(seed)")
      }
      #expect(walk.isOver, "seed \(seed)")
    }
  }

  @Test func typesHaveTheirNames() {
    #expect("\(ADType.flags)" == "Flags")
    #expect("\(ADType.manufacturerSpecificData)" == "Manufacturer Specific Data")
    #expect("\(ADType.serviceData16)" == "Service Data - 16-bit UUID")
    #expect("\(ADType(rawValue: 0xFE))" == "0xFE")
    let names = (0...255).map { ADType(rawValue: $0).description }
    #expect(Set(names).count == 256)
  }
}
