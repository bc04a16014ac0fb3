import LocationSources
import Positioning
import Testing

/// Logs of gpsd's JSON protocol.
@Suite struct GPSDTests {
  private func report(
    _ second: Int, mode: Int = 3, device: String = "/dev/a", latitude: Double = 48,
    more: String = ""
  ) -> String {
    """
    {"class":"TPV","device":"\(device)","mode":\(mode),"time":"2024-02-01T12:00:\(second < 10 ? "0" : "")\(second).000Z",\
    "lat":\(latitude),"lon":11\(more)}

    """
  }

  @Test func repeatedReportsAreOneFix() {
    let decoded = Decoded(
      #"{"class":"VERSION","release":"3.22"}"# + "\n" + report(0) + report(0, more: ",\"altMSL\":5")
        + report(1) + report(2, mode: 1) + report(3), .gpsdJSON)
    #expect(decoded.fixes.map(\.altitude) == [5, nil, nil])
    #expect(decoded.oddities == [.noFix: 1] && decoded.counts.records == 6)
  }

  @Test func theLastLineMayHaveNoEnd() {
    let decoded = Decoded(String((report(0) + report(1)).dropLast()), .gpsdJSON)
    #expect(decoded.fixes.count == 2)
  }

  @Test func theFirstReceiverIsFollowedUntilItIsSilent() {
    let decoded = Decoded(
      report(0) + report(1, device: "/dev/b", latitude: 49) + report(2)
        + report(20, device: "/dev/b", latitude: 49) + report(21), .gpsdJSON)
    #expect(decoded.fixes.map(\.place.latitude) == [48, 48, 49])
    #expect(decoded.counts[.otherReceiver] == 2)
  }

  @Test func aCompassIsRead() {
    let attitude =
      #"{"class":"ATT","time":"2024-02-01T12:00:00.500Z","heading":100.0,"mheading":97.0}"#
    let decoded = Decoded(report(0) + attitude + "\n" + report(1), .gpsdJSON)
    #expect(decoded.readings.map(\.magneticHeading) == [97] && decoded.fixes.count == 2)
    #expect(
      decoded.inputs.map { if case .fix = $0 { true } else { false } } == [true, false, true])
  }

  @Test(arguments: [
    ("{\"class\":\"TPV\",\"mode\":3", TrackOddity.malformed), ("{}", .malformed),
    ("{\"class\":\"TPV\",\"mode\":3,\"lat\":1,\"lon\":2}", .undated),
    (
      "{\"class\":\"TPV\",\"mode\":3,\"time\":\"2024-02-01T12:00:00.5Z\",\"lat\":91,\"lon\":2}",
      .malformed
    ),
    ("{\"class\":\"" + String(repeating: "a", count: 70_000) + "\"}", .tooLong),
    (String(repeating: "{\"a\":", count: 1000), .malformed),
  ])
  func aWrongLineIsCountedAndTheNextIsRead(line: String, oddity: TrackOddity) {
    let decoded = Decoded(report(0) + line + "\n" + report(1), .gpsdJSON)
    #expect(decoded.fixes.count == 2 && decoded.oddities == [oddity: 1])
  }
}
