import Scanning
import Testing

@testable import KioskService

@Suite struct RegionRequestTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private func request(_ json: String) throws(RegionRefusal) -> RegionRequest {
    try RegionRequest(json: Array(json.utf8))
  }

  @Test func membersBecomeBeaconsAndRules() throws {
    let request = try request(
      """
      {"uuid":"\(Self.uuid)","major":1,"minor":null,"exit-after":"20s","enter-distance":1.5,
       "dwell":3,"each":true,"boundary":null}
      """)
    #expect(request.constraint == BeaconConstraint("\(Self.uuid):1"))
    #expect(request.rules == ["dwell=3", "each", "enter-distance=1.5", "exit-after=20s"])
    #expect(try self.request(#"{"uuid":"\#(Self.uuid)","each":false}"#).rules == [])
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
