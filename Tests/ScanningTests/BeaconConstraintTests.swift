import Advertising
import Scanning
import Testing

/// Which beacons are meant.
@Suite struct BeaconConstraintTests {
  private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let text = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  @Test(arguments: [nil, 0, 7, 65535] as [UInt16?], [nil, 0, 9, 65535] as [UInt16?])
  func matches(major: UInt16?, minor: UInt16?) {
    let constraint = BeaconConstraint(uuid: Self.uuid, major: major, minor: minor)
    for heardMajor in [0, 7, 65535] as [UInt16] {
      for heardMinor in [0, 9, 65535] as [UInt16] {
        let heard = BeaconIdentity(uuid: Self.uuid, major: heardMajor, minor: heardMinor)
        let isMeant =
          (major == nil || major == heardMajor) && (minor == nil || minor == heardMinor)
        #expect(constraint.matches(heard) == isMeant)
        var other = heard
        other.uuid.low += 1
        #expect(!constraint.matches(other))
        other.uuid = ProximityUUID(high: Self.uuid.high ^ 1, low: Self.uuid.low)
        #expect(!constraint.matches(other))
      }
    }
  }

  @Test(arguments: ["", ":0", ":65535", ":1:2", ":0:65535"])
  func textRoundTrip(rest: String) throws {
    let constraint = try #require(BeaconConstraint(Self.text + rest))
    #expect("\(constraint)" == Self.text + rest)
    let numbers = rest.split(separator: ":").map { UInt16($0) }
    #expect(constraint.uuid == Self.uuid)
    #expect(constraint.major == numbers.first ?? nil)
    #expect(constraint.minor == (numbers.count > 1 ? numbers[1] : nil))
    #expect(BeaconConstraint(Self.text.lowercased() + rest) == constraint)
  }

  @Test func minorOfAnyMajor() {
    let constraint = BeaconConstraint(uuid: Self.uuid, minor: 3)
    #expect("\(constraint)" == Self.text + ":*:3")
    #expect(BeaconConstraint(Self.text + ":*:3") == constraint)
  }

  @Test(arguments: [
    ":", ":1:", "::1", ":*", ":*:", ":*:*", ":1:2:3", ":65536", ":1:65536", ":-1", ":1.5", ": 1",
    ":one", "0",
  ])
  func badTexts(rest: String) {
    #expect(BeaconConstraint(Self.text + rest) == nil)
  }

  @Test(arguments: ["", ":1", "E2C5", "1:2", "E2C56DB5:DFFB:48D2"])
  func withoutUUID(text: String) {
    #expect(BeaconConstraint(text) == nil)
  }
}
