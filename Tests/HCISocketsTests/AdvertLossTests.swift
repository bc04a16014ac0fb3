import HCIPackets
import Scanning
import Testing

@testable import LiveScanning

/// Which packets mean that an advert is not on air any more.
@Suite struct AdvertLossTests {
  private static let set = AdvertisingCommandSet.extended(handle: 0xEF)

  private func loss(_ packet: [UInt8], _ set: AdvertisingCommandSet) -> AdvertOnAir.Loss? {
    AdvertOnAir.loss(by: packet[...], set)
  }

  @Test(arguments: [AdvertisingCommandSet.legacy, set])
  func controller(set: AdvertisingCommandSet) {
    #expect(loss([0x04, 0x10, 0x01, 0x42], set) == .adapter(.hardwareError))
    #expect(loss(HCICommand(.reset).packet, set) == .reset)
    #expect(loss([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00], set) == nil)
    #expect(loss(HCICommand(.readLocalVersion).packet, set) == nil)
    #expect(loss(HCICommand(.setScanEnable, [1, 0]).packet, set) == nil)
  }

  @Test func legacy() {
    #expect(loss(HCICommand(.setAdvertisingEnable, [0]).packet, .legacy) == .takenOver)
    #expect(loss(HCICommand(.setAdvertisingEnable, [1]).packet, .legacy) == nil)
    #expect(loss(HCICommand(.setAdvertisingData, [0]).packet, .legacy) == .takenOver)
    // What the controller refuses while it advertises.
    #expect(loss(HCICommand(.setAdvertisingParameters, []).packet, .legacy) == nil)
  }

  @Test func extended() {
    func enable(_ parameters: [UInt8]) -> AdvertOnAir.Loss? {
      loss(HCICommand(.setExtendedAdvertisingEnable, parameters).packet, Self.set)
    }
    #expect(enable([0, 0]) == .takenOver)
    #expect(enable([0, 1, 0xEF, 0, 0, 0]) == .takenOver)
    #expect(enable([0, 2, 1, 0, 0, 0, 0xEF, 0, 0, 0]) == .takenOver)
    #expect(enable([0, 1, 0x01, 0xEF, 0xEF, 0xEF]) == nil)
    #expect(enable([1, 1, 0xEF, 0, 0, 0]) == nil)
    #expect(enable([]) == nil && enable([0]) == nil)
    #expect(loss(HCICommand(.removeAdvertisingSet, [0xEF]).packet, Self.set) == .takenOver)
    #expect(loss(HCICommand(.removeAdvertisingSet, [1]).packet, Self.set) == nil)
    #expect(loss(HCICommand(.clearAdvertisingSets).packet, Self.set) == .takenOver)
    let data = HCICommand(.setExtendedAdvertisingData, [0xEF, 3, 1, 0])
    #expect(loss(data.packet, Self.set) == .takenOver)
  }

  /// Packets that are cut short mean nothing.
  @Test(arguments: [AdvertisingCommandSet.legacy, set])
  func cutShort(set: AdvertisingCommandSet) {
    let commands = [
      HCICommand(.reset), HCICommand(.setAdvertisingEnable, [0]),
      HCICommand(.setExtendedAdvertisingEnable, [0, 1, 0xEF, 0, 0, 0]),
    ]
    for packet in commands.map(\.packet) {
      for length in 0..<packet.count {
        #expect(loss(Array(packet[..<length]), set) == nil)
      }
    }
  }
}
