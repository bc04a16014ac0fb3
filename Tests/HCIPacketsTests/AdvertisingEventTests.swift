import Advertising
import HCIPackets
import Testing

/// The reports of an event: every one of them, and none that is not there.
@Suite struct AdvertisingEventTests {
  /// An event built from a packet that a receiver printed, field by field.
  @Test func anEventInFull() throws {
    let event: [UInt8] = [
      0x3E, 0x2A, 0x02, 0x01,  // LE Meta, length, subevent, one report
      0x00, 0x01, 0x43, 0x3E, 0xA2, 0xC9, 0x6B, 0x6A, 0x1E,  // ADV_IND, random, address, length
      0x02, 0x01, 0x1A, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15, 0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB,
      0x48,
      0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0, 0x00, 0x64, 0x00, 0x00, 0xC5,
      0xB3,  // RSSI
    ]
    let heard = try #require(Heard(event))
    #expect(heard.refusal == nil && heard.items.count == 1)
    #expect(heard.items[0].address == 0x6A6B_C9A2_3E43)
    #expect(heard.items[0].addressType == 1)
    #expect(heard.items[0].eventType == AdvertisingEventType.advInd.rawValue)
    #expect(heard.items[0].rssi == -77)
    #expect(heard.items[0].data == Array(event[13..<43]))
    #expect(heard.items[0].set == 0xFF && heard.items[0].status == 0)
  }

  @Test(arguments: [0, 1, 2, 3, 25])
  func legacyReports(count: Int) {
    let reports = (0..<count).map { index in
      // 25 reports are what 255 bytes hold if none has data.
      Report(
        eventType: UInt16(index % 6), addressType: UInt8(index % 4),
        address: [UInt8(index), 0, 0, 0, 0, 0xC0], rssi: -Int8(index),
        data: count < 25 ? [UInt8](repeating: UInt8(index), count: index * 7) : [])
    }
    let expected = Heard(items: reports.map { .init($0, extended: false) })
    #expect(Heard(Event.legacy(reports)) == expected)
    // What follows the event's own length is not looked at.
    #expect(Heard(Event.legacy(reports) + [1, 2, 3]) == expected)
  }

  @Test(arguments: [0, 1, 2, 10])
  func extendedReports(count: Int) {
    let reports = (0..<count).map { index in
      Report(
        eventType: UInt16(index * 3 % 32), addressType: index == 1 ? 0xFF : 1,
        address: [UInt8(index), 9, 9, 9, 9, 9], set: UInt8(index), rssi: 20 - Int8(index),
        data: [UInt8](repeating: UInt8(index), count: index % 2))
    }
    #expect(
      Heard(Event.extended(reports))
        == Heard(items: reports.map { .init($0, extended: true) }))
  }

  /// A report of the longest data that an event can carry.
  @Test func longestReports() {
    let legacy = Report(data: [UInt8](repeating: 0xAB, count: 243))
    #expect(Heard(Event.legacy([legacy])) == Heard(items: [.init(legacy, extended: false)]))
    let extended = Report(data: [UInt8](repeating: 0xAB, count: 229))
    #expect(Heard(Event.extended([extended])) == Heard(items: [.init(extended, extended: true)]))
  }

  @Test(arguments: Int8.min...Int8.max, [true, false])
  func everySignalStrength(rssi: Int8, extended: Bool) {
    let report = Report(rssi: rssi)
    let event = extended ? Event.extended([report]) : Event.legacy([report])
    #expect(Heard(event)?.items.map(\.rssi) == [rssi <= 20 && rssi > -128 ? rssi : nil])
  }

  @Test(arguments: 0...255 as ClosedRange<UInt16>)
  func everyLegacyEventType(type: UInt16) {
    let types: [AdvertisingEventType] = [
      .advInd, .advDirectInd, .advScanInd, .advNonconnInd, .scanRsp,
    ]
    let expected = type < 5 ? types[Int(type)] : .advNonconnInd
    #expect(
      Heard(Event.legacy([Report(eventType: type)]))?.items.map(\.eventType)
        == [expected.rawValue])
  }

  /// Data_Status takes bits 5 and 6; reserved bits above are dropped.
  @Test(arguments: [0, 1, 2, 3] as [UInt16], [0, 0x13, 0x1F] as [UInt16])
  func dataStatus(status: UInt16, bits: UInt16) {
    for reserved in [0, 0xFF80] as [UInt16] {
      let report = Report(eventType: reserved | status << 5 | bits)
      let items = Heard(Event.extended([report]))?.items
      #expect(items?.map(\.status) == [UInt8(status)])
      #expect(items?.map(\.eventType) == [bits])
    }
  }

  /// An event behind the head of a packet, at any place.
  @Test(arguments: 0...5)
  func behindAHead(start: Int) {
    let report = Report()
    for event in [Event.legacy([report]), Event.extended([report])] {
      let packet = [UInt8](repeating: 0x3E, count: start) + event
      for cut in 0...packet.count {
        let bytes = Array(packet.prefix(cut))
        guard let walk = unsafe AdvertisingEvent(bytes.span.bytes, at: start) else {
          #expect(cut < start + 3)
          continue
        }
        let isExtended = walk.isExtended
        #expect(cut >= start + 3 && isExtended == (event[2] == 0x0D))
      }
    }
  }

  /// Other events, and other subevents of the same event.
  @Test func otherEvents() {
    for code in 0...255 as ClosedRange<UInt8> where code != 0x3E {
      var event = Event.legacy([Report()])
      event[0] = code
      #expect(Heard(event) == nil)
    }
    for subevent in 0...255 as ClosedRange<UInt8> where subevent != 0x02 && subevent != 0x0D {
      var event = Event.legacy([Report()])
      event[2] = subevent
      #expect(Heard(event) == nil)
    }
  }
}
