import Advertising
import HCIPackets
import Testing

/// The common extended advertising payload, and which fields its header may have.
@Suite struct ExtendedPDUTests {
  private static let data: [UInt8] = [0x02, 0x01, 0x06]

  /// The fields in their order, by the bit of the flags that says they are there.
  private static let fields: [(bit: UInt8, bytes: [UInt8])] = [
    (0, Packet.address),  // AdvA
    (1, [1, 2, 3, 4, 5, 6]),  // TargetA
    (2, [0x55]),  // CTEInfo
    (3, [0x12, 0x34]),  // AdvDataInfo
    (4, [0x07, 0x20, 0x00]),  // AuxPtr
    (5, [UInt8](repeating: 0x77, count: 18)),  // SyncInfo
    (6, [0xF6]),  // TxPower
  ]

  private func payload(flags: UInt8, mode: UInt8, extra: [UInt8] = [], data: [UInt8]) -> [UInt8] {
    let header =
      [flags] + Self.fields.filter { flags >> $0.bit & 1 == 1 }.flatMap(\.bytes) + extra
    return [mode << 6 | UInt8(header.count)] + header + data
  }

  /// Every set of fields: the data begins behind all of them.
  @Test(arguments: 0...127 as ClosedRange<UInt8>)
  func everySetOfFields(flags: UInt8) {
    for mode in 0...2 as ClosedRange<UInt8> {
      let packet = Packet.make(0x47, payload(flags: flags, mode: mode, data: Self.data))
      let hasAddress = flags & 1 == 1
      let heard = ReadPDU(
        address: hasAddress ? "C1:02:03:04:05:06" : "00:00:00:00:00:00",
        addressType: hasAddress ? "random" : "anonymous", eventType: UInt16(mode), rssi: -51,
        data: Self.data)
      #expect(ReadPDU.read(packet) == .success(heard))
    }
  }

  @Test func publicAddress() {
    let packet = Packet.make(0x07, payload(flags: 1, mode: 0, data: Self.data))
    guard case .success(let heard?) = ReadPDU.read(packet) else {
      Issue.record("no report")
      return
    }
    #expect(heard.addressType == "public")
  }

  /// A header with ACAD behind its fields.
  @Test func additionalControllerData() {
    let packet = Packet.make(
      0x47, payload(flags: 0b1001, mode: 1, extra: [0x03, 0x28, 1, 2], data: Self.data))
    guard case .success(let heard?) = ReadPDU.read(packet) else {
      Issue.record("no report")
      return
    }
    #expect(heard.data == Self.data)
    #expect(heard.eventType == AdvertisingEventType.connectable.rawValue)
  }

  /// AUX_CHAIN_IND may have no header at all.
  @Test func noHeader() {
    let packet = Packet.make(0x07, [0x00] + Self.data)
    let heard = ReadPDU(
      address: "00:00:00:00:00:00", addressType: "anonymous", eventType: 0, rssi: -51,
      data: Self.data)
    #expect(ReadPDU.read(packet) == .success(heard))
  }

  /// ADV_EXT_IND only points to where the data is.
  @Test(arguments: [0b001_1000, 0b001_1001, 0b101_1000] as [UInt8])
  func noData(flags: UInt8) {
    let packet = Packet.make(0x47, payload(flags: flags, mode: 0, data: []))
    #expect(ReadPDU.read(packet) == .success(nil))
  }

  /// A header that is longer than the payload, or shorter than the address it says it has.
  @Test func lyingHeaders() {
    let right = payload(flags: 1, mode: 0, data: [])
    for length in 0...63 as ClosedRange<UInt8> {
      var lying = right
      lying[0] = length
      let read = ReadPDU.read(Packet.make(0x47, lying))
      switch length {
      // Without a header, its bytes are data.
      case 0: #expect(read != .success(nil) && read != .failure(.malformedPacket))
      case 7: #expect(read == .success(nil))
      default: #expect(read == .failure(.malformedPacket), "length \(length)")
      }
    }
    #expect(ReadPDU.read(Packet.make(0x47, [])) == .failure(.malformedPacket))
  }

  @Test(arguments: [false, true])
  func everyPrefix(isCoded: Bool) {
    let packet = Packet.make(
      0x47, payload(flags: 0b101_1001, mode: 1, data: Self.data),
      codingIndicator: isCoded ? 1 : nil)
    for cut in 0..<packet.count {
      #expect(
        ReadPDU.read(Array(packet.prefix(cut)), isCoded: isCoded) == .failure(.truncatedPacket))
    }
    #expect(ReadPDU.read(packet, isCoded: isCoded) != .success(nil))
  }
}
