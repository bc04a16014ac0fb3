import Advertising
import Testing

/// Small values that every source of packets shares.
@Suite struct RefusalTests {
  @Test func namesAreTheirOwn() {
    #expect(Set(Refusal.allCases.map { "\($0)" }).count == Refusal.allCases.count)
    #expect("\(Refusal.badCRC)" == "badCRC")
  }

  /// 127 is "not available", and +21 to +126 are reserved.
  @Test(arguments: Int8.min...Int8.max)
  func signalStrength(value: Int8) {
    #expect(AdvertisingReport.rssi(hci: value) == (value <= 20 && value > -128 ? value : nil))
  }

  @Test func eventTypes() {
    #expect(AdvertisingEventType.advInd.rawValue == 0b10011)
    #expect(AdvertisingEventType.advDirectInd.rawValue == 0b10101)
    #expect(AdvertisingEventType.advScanInd.rawValue == 0b10010)
    #expect(AdvertisingEventType.advNonconnInd.rawValue == 0b10000)
    #expect(AdvertisingEventType.scanRsp.rawValue == 0b11010)
  }
}
