import Bytes
import HCIPackets
import Testing

/// What a controller says of itself.
@Suite struct ControllerVersionTests {
  /// An answer as `hcitool cmd 4 1` prints it, behind its status.
  @Test func version() throws {
    let bytes: [UInt8] = [0x09, 0x00, 0x00, 0x09, 0xF1, 0x05, 0x00, 0x00]
    let version = unsafe try ControllerVersion(bytes.span.bytes)
    #expect(version == ControllerVersion(hci: 9, company: 1521))
    #expect(version.bluetooth == "5.0")
    for length in 0..<6 {
      #expect(throws: ParseError.self) {
        unsafe try ControllerVersion(bytes.span.bytes.extracting(first: length))
      }
    }
  }

  @Test(arguments: [
    (UInt8(0), "1.0b"), (6, "4.0"), (8, "4.2"), (13, "5.4"), (14, "6.0"), (16, nil), (255, nil),
  ])
  func names(number: UInt8, name: String?) {
    #expect(ControllerVersion(hci: number, company: 0).bluetooth == name)
  }

  /// Vol 6, Part B, §4.6: bits 0, 6, 8, 11, 12 and 13.
  @Test func features() throws {
    let bytes: [UInt8] = [0x41, 0x39, 0, 0, 0, 0, 0, 0x80]
    let features = unsafe try LEFeatures(bytes.span.bytes)
    #expect(features.contains(.codedPHY) && features.contains(.extendedAdvertising))
    #expect(
      features.names == [
        "encryption", "privacy", "2M PHY", "Coded PHY", "extended advertising",
        "periodic advertising",
      ])
    #expect(LEFeatures(rawValue: 1 << 63).names.isEmpty)
    #expect(throws: ParseError.self) {
      unsafe try LEFeatures(bytes.span.bytes.extracting(first: 7))
    }
  }
}
