import Advertising
import TestSupport
import Testing

/// The iBeacon frame, byte for byte.
@Suite struct IBeaconTests {
  private static let identity = BeaconIdentity(
    uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0),
    major: 0x0102, minor: 0xFFFE)
  private static let bytes: [UInt8] = [
    0x4C, 0x00, 0x02, 0x15, 0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5,
    0xA7, 0x10, 0x96, 0xE0, 0x01, 0x02, 0xFF, 0xFE, 0xC5,
  ]

  @Test func exactBytes() {
    let frame = IBeacon(identity: Self.identity, measuredPower: -59)
    #expect(reading(Self.bytes) == .frame(frame))
    #expect(frame.manufacturerData == Self.bytes)
    #expect(frame.advertisingData == [0x02, 0x01, 0x06, 0x1A, 0xFF] + Self.bytes)
    #expect(Self.bytes.count == IBeacon.byteCount)
  }

  @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF] as [UInt8])
  func aTrailingByteIsTakenAndFlagged(last: UInt8) {
    let frame = IBeacon(identity: Self.identity, measuredPower: -59, hasTrailingByte: true)
    #expect(reading(Self.bytes + [last]) == .frame(frame))
  }

  /// Every other length is refused: as malformed, once the type and its length byte are there.
  @Test(arguments: 0...260)
  func lengths(count: Int) {
    let bytes = Array((Self.bytes + [UInt8](repeating: 0, count: 240)).prefix(count))
    switch count {
    case ..<4: #expect(reading(bytes) == .other)
    case 25, 26:
      guard case .frame(let frame) = reading(bytes) else {
        Issue.record("\(count) bytes are a frame")
        return
      }
      #expect(frame.identity == Self.identity)
      #expect(frame.hasTrailingByte == (count == 26))
    default: #expect(reading(bytes) == .malformed)
    }
  }

  @Test(arguments: 0...255 as ClosedRange<UInt8>)
  func everyLengthByte(length: UInt8) {
    var bytes = Self.bytes
    bytes[3] = length
    let frame = IBeacon(identity: Self.identity, measuredPower: -59)
    #expect(reading(bytes) == (length == 0x15 ? .frame(frame) : .malformed))
    #expect(reading(Array(bytes.prefix(4))) == .malformed)
  }

  /// The usual advert, which is read in one comparison, and those that differ from it in a bit or in
  /// length, are read as a walk over the structures reads them.
  @Test func theUsualAdvertAndItsNeighbors() {
    let usual = IBeacon(identity: Self.identity, measuredPower: -59).advertisingData
    #expect(frames(usual) == [.success(IBeacon(identity: Self.identity, measuredPower: -59))])
    var adverts = [usual, usual + [0], usual + usual, usual + [1], Array(usual.dropFirst(3))]
    adverts += usual.indices.map { Array(usual.prefix($0)) }
    for index in usual.indices {
      for bit in 0..<8 {
        adverts.append(usual)
        adverts[adverts.count - 1][index] ^= 1 << bit
      }
    }
    for advert in adverts { #expect(frames(advert) == walk(advert), "\(advert)") }
  }

  private func frames(_ data: [UInt8]) -> [Result<IBeacon, Refusal>] {
    // The fields end with the data.
    let fields = unsafe AdvertisingReportFields(
      from: 0, to: data.count, address: BluetoothAddress(rawValue: 0), addressType: .public,
      eventType: .advInd, rssi: nil)
    var frames = unsafe IBeaconFrames(data.span.bytes, fields)
    var found: [Result<IBeacon, Refusal>] = []
    while let next = frames.next() { found.append(next) }
    return found
  }

  private func walk(_ data: [UInt8]) -> [Result<IBeacon, Refusal>] {
    var structures = unsafe ADStructures(data.span.bytes)  // initialized integers
    var found: [Result<IBeacon, Refusal>] = []
    do {
      while let structure = try structures.next() {
        guard structure.type == .manufacturerSpecificData else { continue }
        switch IBeacon.read(manufacturerData: structure.data) {
        case .frame(let frame): found.append(.success(frame))
        case .malformed: found.append(.failure(.malformedIBeacon))
        case .other: break
        }
      }
    } catch {
      found.append(.failure(.malformedADStructure))
    }
    return found
  }

  /// Other companies, other messages of Apple's.
  @Test(arguments: [
    (0, 0x4D), (0, 0x00), (1, 0x01), (1, 0x4C), (2, 0x10), (2, 0x00), (2, 0x03), (2, 0xFF),
  ])
  func otherMessages(index: Int, value: UInt8) {
    var bytes = Self.bytes
    bytes[index] = value
    #expect(reading(bytes) == .other)
    #expect(reading(Array(bytes.prefix(10))) == .other)
    // The company's two octets swapped.
    #expect(reading([0x00, 0x4C] + Self.bytes.dropFirst(2)) == .other)
  }

  @Test(
    arguments: [0, 1, 255, 256, 32767, 32768, 65534, 65535] as [UInt16],
    [-128, -101, -100, -59, -1, 0, 1, 20, 116, 127] as [Int8])
  func extremes(number: UInt16, power: Int8) {
    for uuid in [ProximityUUID(high: 0, low: 0), ProximityUUID(high: .max, low: .max)] {
      let frame = IBeacon(
        identity: BeaconIdentity(uuid: uuid, major: number, minor: ~number), measuredPower: power)
      #expect(reading(frame.manufacturerData) == .frame(frame))
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let frame = IBeacon.random(using: &random)
      #expect(reading(frame.manufacturerData) == .frame(frame), "seed \(seed)")
      let walk = Walk(frame.advertisingData)
      #expect(walk.error == nil && walk.structures.count == 2, "seed \(seed)")
      #expect(walk.structures.last?.data == frame.manufacturerData, "seed \(seed)")
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var bytes = random.bytes(Int.random(in: 0...40, using: &random))
      for (index, octet) in Self.bytes.prefix(4).enumerated()
      where index < bytes.count && random.next() % 4 != 0 { bytes[index] = octet }
      let isApples = bytes.count >= 4 && bytes.starts(with: [0x4C, 0x00, 0x02])
      switch reading(bytes) {
      case .frame(let frame):
        #expect(bytes.starts(with: frame.manufacturerData), "seed \(seed)")
        #expect(bytes.count == (frame.hasTrailingByte ? 26 : 25), "seed \(seed)")
      case .malformed: #expect(isApples, "seed \(seed): \(bytes)")
      case .other: #expect(!isApples, "seed \(seed): \(bytes)")
      }
    }
  }
}
