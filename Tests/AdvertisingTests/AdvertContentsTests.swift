import Bytes
import TestSupport
import Testing

@testable import Advertising

/// Names, companies and services of any sender, whatever it sends.
@Suite struct AdvertContentsTests {
  private func contents(_ hex: String) throws -> AdvertContents {
    let bytes = try Hexadecimal.bytes(in: hex)
    return unsafe AdvertContents(bytes.span.bytes)
  }

  @Test func statesAll() throws {
    // Flags, a complete name, a list of two services, service data of one of them, Nordic's data.
    let all = try contents("020106 05096465736b 0503aafe0f18 0416aafe00 04ff590001")
    #expect(all.name == "desk" && all.company == 0x59 && all.services == ["FEAA", "180F"])
    let long = try contents(
      "05 05 78563412 11 07 fb349b5f80000080001000001812 0000 05 20 04030201")
    #expect(
      long.services == ["12345678", "00001218-0000-1000-8000-00805F9B34FB", "01020304"])
  }

  /// A complete name wins over a shortened one, wherever it comes from.
  @Test func names() throws {
    #expect(try contents("0308 6465 0509 6465736b").name == "desk")
    #expect(try contents("0509 6465736b 0308 6465").name == "desk")
    #expect(try contents("0509 64650000").name == "de")
    #expect(try contents("0109").name == nil && contents("0209 00").name == nil)
    #expect(try contents("0309 ff41").name == "\u{FFFD}A")
    var advert = try contents("0308 6465 03ff4c00")
    advert.merge(try contents("0509 6465736b 0303aafe"))
    advert.merge(try contents("0308 6465"))
    #expect(advert.name == "desk" && advert.company == 0x4C && advert.services == ["FEAA"])
  }

  /// What is malformed is left out, and nothing traps.
  @Test func malformed() throws {
    for hex in ["", "00", "ff", "0216", "03160a", "02ff4c", "1e09", "0203aa", "0407010203", "0100"]
    {
      #expect(try contents(hex) == contents(""), "\(hex)")
    }
    #expect(try contents("03ff4c00 1eff").company == 0x4C)
    #expect(try contents("0403aafe0f").services == ["FEAA"])
    #expect(try contents("00 03ff4c00").company == nil)
    // Services have a bound.
    let many = (0..<120).map { "0303" + String(0x1000 + $0, radix: 16) }.joined()
    #expect(try contents(many).services.count == AdvertContents.maximumServices)
    var random = SplitMix64(seed: 12)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        // Lengths and types that are known occur often.
        [0, 1, 2, 3, 5, 9, 17, 0x07, 0x08, 0x16, 0x21, 0xFF].randomElement(using: &random) ?? 0
      }.map { UInt8($0) }
      let contents = unsafe AdvertContents(bytes.span.bytes)
      #expect(contents.services.count <= AdvertContents.maximumServices)
    }
  }

  /// An iBeacon's format has Apple's number, whoever made the beacon.
  @Test func companyOfMaker() throws {
    let iBeacon = "1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010001c5"
    let (maker, apple) = ("05ff88ec0001", "03ff4c00")
    #expect(try contents(iBeacon).company == 0x4C)
    #expect(try contents(iBeacon + maker).company == 0xEC88)
    #expect(try contents(maker + iBeacon).company == 0xEC88)
    for adverts in [[iBeacon, maker], [maker, iBeacon], [iBeacon, maker, iBeacon]] {
      var merged = try contents("")
      for advert in adverts { merged.merge(try contents(advert)) }
      #expect(merged.company == 0xEC88, "\(adverts)")
    }
    // Of two makers, the latest.
    var both = try contents(maker)
    both.merge(try contents(apple))
    #expect(both.company == 0x4C)
  }

  @Test func companies() {
    #expect(CompanyName.of(0x004C) == "Apple" && CompanyName.of(0x0059) == "Nordic Semiconductor")
    #expect(CompanyName.of(0xFFFF) == nil)
  }
}
