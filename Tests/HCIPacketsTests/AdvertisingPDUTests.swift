import Advertising
import HCIPackets
import TestSupport
import Testing

/// Every kind of PDU on the advertising channels.
@Suite struct AdvertisingPDUTests {
  private static let data: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0xFF, 0x4C, 0x00]

  @Test(arguments: 0...15 as ClosedRange<UInt8>, [0, 0x40, 0x80, 0xF0] as [UInt8])
  func everyLegacyType(type: UInt8, bits: UInt8) {
    guard type != 0b0111 else { return }
    let packet = Packet.make(bits | type, Packet.address + Self.data)
    let events: [UInt8: AdvertisingEventType] = [
      0b0000: .advInd, 0b0010: .advNonconnInd, 0b0100: .scanRsp, 0b0110: .advScanInd,
    ]
    let expected = events[type].map { event in
      ReadPDU(
        address: "C1:02:03:04:05:06", addressType: bits & 0x40 == 0 ? "public" : "random",
        eventType: event.rawValue, rssi: -51, data: Self.data)
    }
    #expect(ReadPDU.read(packet) == .success(expected))
  }

  @Test(arguments: [0, 1, 31, 37, 200, 249])
  func everyAmountOfData(count: Int) {
    let data = [UInt8](repeating: 0x5A, count: count)
    let heard = ReadPDU.read(Packet.make(0x42, Packet.address + data), rssi: nil)
    guard case .success(let report?) = heard else {
      Issue.record("\(heard)")
      return
    }
    #expect(report.data == data)
    #expect(report.rssi == nil)
  }

  /// A payload that does not hold the address it must begin with.
  @Test(arguments: 0...5, [0b0000, 0b0010, 0b0100, 0b0110] as [UInt8])
  func shortPayload(count: Int, type: UInt8) {
    let packet = Packet.make(type, Array(Packet.address.prefix(count)))
    #expect(ReadPDU.read(packet) == .failure(.malformedPacket))
  }

  @Test(arguments: [0, 1, 2, 3, 0x55] as [UInt8])
  func codedPackets(indicator: UInt8) {
    let payload = Packet.address + Self.data
    let plain = Packet.make(0x42, payload)
    let coded = ReadPDU.read(
      Packet.make(0x42, payload, codingIndicator: indicator), isCoded: true)
    #expect(coded == ReadPDU.read(plain))
    #expect(coded != ReadPDU.read(plain, isCoded: true))
  }

  /// What the receiver says of the checksum is believed; only where it says nothing is it computed.
  @Test func checksums() {
    let right = Packet.make(0x42, Packet.address + Self.data)
    let whole = ReadPDU.read(right)
    #expect(whole != .success(nil))
    #expect(ReadPDU.read(right, checksum: .valid) == whole)
    #expect(ReadPDU.read(right, checksum: .wrong) == .failure(.badCRC))
    for place in (right.count - 3)..<right.count {
      for bit in 0..<8 {
        var wrong = right
        wrong[place] ^= 1 << bit
        #expect(ReadPDU.read(wrong) == .failure(.badCRC))
        #expect(ReadPDU.read(wrong, checksum: .valid) == whole)
        #expect(ReadPDU.read(wrong, checksum: .wrong) == .failure(.badCRC))
      }
    }
  }

  /// Every single wrong bit behind the length is seen.
  @Test func everyWrongBit() {
    let right = Packet.make(0x42, Packet.address + Self.data)
    for place in [4] + Array(6..<right.count) {
      for bit in 0..<8 {
        var wrong = right
        wrong[place] ^= 1 << bit
        #expect(ReadPDU.read(wrong) == .failure(.badCRC), "byte \(place), bit \(bit)")
      }
    }
  }

  @Test(arguments: [AdvertisingPDU.Checksum.valid, .unchecked, .wrong], [false, true])
  func everyPrefix(checksum: AdvertisingPDU.Checksum, isCoded: Bool) {
    let packet = Packet.make(
      0x42, Packet.address + Self.data, codingIndicator: isCoded ? 0 : nil)
    // A damaged packet often has a wrong length: its checksum is what was wrong.
    let refusal: Refusal = checksum == .wrong ? .badCRC : .truncatedPacket
    for cut in 0..<packet.count {
      #expect(
        ReadPDU.read(Array(packet.prefix(cut)), isCoded: isCoded, checksum: checksum)
          == .failure(refusal))
    }
    let longer = packet + [1, 2, 3]
    #expect(
      ReadPDU.read(longer, isCoded: isCoded, checksum: checksum)
        == ReadPDU.read(packet, isCoded: isCoded, checksum: checksum))
  }

  @Test func accessAddresses() {
    let packet = Packet.make(0x42, Packet.address)
    for cut in 0...packet.count {
      let short = Array(packet.prefix(cut))
      let isOne = unsafe AdvertisingPDU.isAdvertising(short.span.bytes)
      #expect(isOne == (cut >= 4))
    }
    for place in 0..<4 {
      var other = packet
      other[place] ^= 0x10
      let isOther = unsafe AdvertisingPDU.isAdvertising(other.span.bytes)
      #expect(!isOther)
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let body = random.bytes(Int.random(in: 0...60, using: &random))
      let isCoded = random.next() % 2 == 0
      var packet = Packet.access + body
      let whole = Packet.make(
        UInt8(truncatingIfNeeded: random.next()), body, codingIndicator: isCoded ? 0 : nil)
      if random.next() % 2 == 0 { packet = whole }
      for checksum in [AdvertisingPDU.Checksum.valid, .wrong, .unchecked] {
        switch ReadPDU.read(packet, isCoded: isCoded, checksum: checksum) {
        case .success(let heard?):
          #expect(checksum != .wrong, "seed \(seed): \(packet)")
          #expect(heard.data.count <= body.count, "seed \(seed): \(packet)")
        case .success(nil): #expect(checksum != .wrong, "seed \(seed): \(packet)")
        case .failure(let refusal):
          let kinds: [Refusal] = [.badCRC, .truncatedPacket, .malformedPacket]
          #expect(kinds.contains(refusal), "seed \(seed): \(packet)")
        }
      }
    }
  }
}
