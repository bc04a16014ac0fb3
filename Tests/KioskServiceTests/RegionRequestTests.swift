import Positioning
import Records
import Scanning
import Testing

@testable import KioskService

@Suite struct RegionRequestTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private func request(_ json: String) throws(RegionRefusal) -> RegionRequest {
    try RegionRequest(json: Array(json.utf8), name: "lobby")
  }

  @Test func membersBecomeBeaconsAndRules() throws {
    let request = try request(
      """
      {"uuid":"\(Self.uuid)","major":1,"minor":null,"exit-after":"20s","enter-distance":1.5,
       "dwell":3,"each":true,"boundary":null}
      """)
    #expect(request.subject == .beacons(try #require(BeaconConstraint("\(Self.uuid):1"))))
    #expect(request.rules == ["dwell=3", "each", "enter-distance=1.5", "exit-after=20s"])
    #expect(try self.request(#"{"uuid":"\#(Self.uuid)","each":false}"#).rules == [])
  }

  @Test func threeNumbersBecomeACircle() throws {
    let request = try request(#"{"latitude":52.5163,"longitude":13.3777,"radius":200}"#)
    let center = try #require(Coordinate(latitude: 52.5163, longitude: 13.3777))
    #expect(
      request
        == RegionRequest(
          .circle(try CircularRegion(identifier: "lobby", center: center, radius: 200))))
  }

  @Test(arguments: [
    (#"{"latitude":91,"longitude":0,"radius":1}"#, "latitude"),
    (#"{"latitude":0,"longitude":181,"radius":1}"#, "longitude"),
    (#"{"latitude":0,"longitude":0,"radius":0}"#, "radius"),
    (#"{"latitude":0,"longitude":0,"radius":2000001}"#, "radius"),
    (#"{"latitude":0,"longitude":0}"#, "radius"),
    (#"{"latitude":0,"longitude":0,"radius":1,"each":true}"#, "'each'"),
  ])
  func whatIsNotACircleIsRefused(_ json: String, _ names: String) {
    let error = #expect(throws: RegionRefusal.self) { try request(json) }
    guard case .invalid(let sentence)? = error else {
      Issue.record("refused as \(String(describing: error))")
      return
    }
    #expect(sentence.contains(names))
  }

  @Test(arguments: [
    "", "null", "[]", "\"\"", "{}", #"{"uuid":7}"#, #"{"uuid":"x"}"#,
    #"{"uuid":"\#(uuid):1"}"#, #"{"uuid":"\#(uuid)","minor":1}"#,
    #"{"uuid":"\#(uuid)","major":-1}"#, #"{"uuid":"\#(uuid)","major":65536}"#,
    #"{"uuid":"\#(uuid)","major":"1"}"#, #"{"uuid":"\#(uuid)","each":{}}"#,
    #"{"uuid":"\#(uuid)","EACH":true}"#, #"{"uuid":"\#(uuid)","a b":1}"#,
  ])
  func whatDescribesNoRegionIsRefused(_ json: String) {
    #expect(throws: RegionRefusal.self) { try request(json) }
  }
}
