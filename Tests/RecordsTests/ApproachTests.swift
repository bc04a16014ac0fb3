import Advertising
import Records
import Scanning
import Testing

@testable import Regions

/// The sentences that say why a region was not entered.
@Suite struct ApproachTests {
  private func approach(_ rule: RegionTransition.Rule, rssi: Int8) -> RegionApproach {
    let values = RegionApproach.Values(rssi: rssi, distance: 2, evidence: 0.4, count: 1, dwell: 3)
    return RegionApproach(
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 2),
      sightings: 7, rule: rule, nearest: values, latest: values)
  }

  /// The gate opens above its limit.
  @Test(
    arguments: [
      (-71, "strongest -71 dBm; above -70 dBm is needed"),
      (-70, "strongest -70 dBm; above -70 dBm is needed"),
      (-69, "strongest -69 dBm, but not long enough above -70 dBm: 40 % of the evidence"),
    ] as [(Int8, String)])
  func signals(rssi: Int8, message: String) throws {
    let rules = try RegionRules(signal: SignalGate(boundary: -70))
    let approach = Approach(
      "lobby", .outside, at: WallClockTime(nanoseconds: 0), rules, approach(.signal, rssi: rssi))
    #expect(approach.message == message)
  }
}
