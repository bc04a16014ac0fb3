import Advertising
import FoundationEssentials
import TestSupport
import Testing

/// Identities and addresses as text, and back.
@Suite struct IdentityTextTests {
  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func uuidsRoundTrip(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let uuid = ProximityUUID(high: random.next(), low: random.next() >> (random.next() % 64))
    let text = "\(uuid)"
    #expect(ProximityUUID(text) == uuid, "seed \(seed)")
    #expect(ProximityUUID(text.lowercased()) == uuid, "seed \(seed)")
    #expect(ProximityUUID(String(text.filter { $0 != "-" })) == uuid, "seed \(seed)")
    // Foundation's own form is the oracle.
    #expect(UUID(uuidString: text)?.uuidString == text, "seed \(seed)")
  }

  @Test func uuidsInFull() {
    let uuid = ProximityUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    #expect("\(uuid)" == "01234567-89AB-CDEF-FEDC-BA9876543210")
    #expect("\(ProximityUUID(high: 0, low: 0))" == "00000000-0000-0000-0000-000000000000")
  }

  /// As tools and data sheets write them.
  @Test(arguments: [
    "e2c56db5dffb48d2b060d0f5a71096e0", "{E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}",
    "E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0", " E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
  ])
  func uuidsOfOtherForms(text: String) {
    #expect(ProximityUUID(text)?.description == "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
  }

  @Test(arguments: [
    "", "E2C56DB5", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E00",
    "{E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "E2C56DB5-DFFB-48D2-B060-D0F5A71096EG",
    "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}", "E2C56DB5_DFFB_48D2_B060_D0F5A71096E0",
    "E2C56DB5DFFB48D2B060D0F5A71096E", "+2C56DB5DFFB48D2B060D0F5A71096E0",
    "E2C56DB5-DFFB-48D2-B060-D0F5A71096é", "e2c56db5dffb48d2b060d0f5a7109６e",
    "--------------------------------", "------------------------------------",
  ])
  func badUUIDs(text: String) {
    #expect(ProximityUUID(text) == nil)
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func addressesRoundTrip(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let address = BluetoothAddress(rawValue: random.next() >> (random.next() % 48))
    let text = "\(address)"
    #expect(BluetoothAddress(text) == address, "seed \(seed)")
    #expect(BluetoothAddress(text.lowercased()) == address, "seed \(seed)")
    #expect(text.utf8.count == 17 && text.uppercased() == text, "seed \(seed)")
    let octets = text.split(separator: ":").compactMap { UInt8($0, radix: 16) }
    #expect(Array(address.littleEndianBytes.reversed()) == octets, "seed \(seed)")
    let bytes = address.littleEndianBytes
    let read = unsafe BluetoothAddress(littleEndian: bytes.span.bytes, unchecked: 0)
    #expect(read == address, "seed \(seed)")
  }

  @Test func addressesInFull() {
    #expect("\(BluetoothAddress(rawValue: 0x0A0B_0C0D_0E0F))" == "0A:0B:0C:0D:0E:0F")
    #expect(
      BluetoothAddress(rawValue: 0xFFFF_0000_0000_0001) == BluetoothAddress(rawValue: 1))
    #expect("\(BluetoothAddress(rawValue: .max))" == "FF:FF:FF:FF:FF:FF")
  }

  @Test(arguments: [
    "", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:FF:00", "AA:BB:CC:DD:EE:F", "AA:BB:CC:DD:EE:FFF",
    "AA-BB-CC-DD-EE-FF", "AABBCCDDEEFF", "AA:BB:CC:DD:EE:GG", "AA:BB:CC:DD:EE:+F",
    "AA:BB:CC:DD:EE: F", ":AA:BB:CC:DD:EE:FF", "AA:BB:CC:DD:EE:FF:", "::::::", "AA::CC:DD:EE:FF",
    "AA:BB:CC:DD:EE:é",
  ])
  func badAddresses(text: String) {
    #expect(BluetoothAddress(text) == nil)
  }

  @Test func addressTypes() {
    let names = ["public", "random", "public-identity", "random-identity", "other-4"]
    #expect((0...4).map { AddressType(rawValue: $0).description } == names)
    #expect(AddressType.anonymous.rawValue == 0xFF)
    #expect("\(AddressType.anonymous)" == "anonymous")
  }

  /// Orders as the written forms do.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func orders(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let words: [UInt64] = [0, 1, 1 << 63, .max]
    let identities = (0..<40).map { _ in
      BeaconIdentity(
        uuid: ProximityUUID(
          high: words[Int(random.next() % 4)], low: words[Int(random.next() % 4)]),
        major: UInt16(random.next() % 3), minor: UInt16(random.next() % 3))
    }
    let sorted = identities.sorted().map(\.description)
    #expect(sorted == identities.map(\.description).sorted(), "seed \(seed)")
  }
}
