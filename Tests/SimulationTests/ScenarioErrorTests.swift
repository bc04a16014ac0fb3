import Simulation
import Testing

/// Every wrong value is refused with one sentence that names its key.
@Suite struct ScenarioErrorTests {
  @Test(arguments: [
    Wrong("[]", "the scenario must be an object"),
    Wrong(#"{"name": 5}"#, "name must be text"),
    Wrong("{}", "name is missing"),
    Wrong(#"{"name": "a"}"#, "start is missing"),
    Wrong(
      #"{"name": "a", "start": "yesterday"}"#,
      "start must be a time in UTC such as 2026-01-01T00:00:00Z"),
    Wrong(
      #"{"name": "a", "start": "20026-1-01T00:00:00.5Z"}"#,
      "start must be a time in UTC such as 2026-01-01T00:00:00Z"),
    Wrong(
      #"{"name": "a", "start": "2026-02-29T00:00:00Z"}"#,
      "start must be a time in UTC such as 2026-01-01T00:00:00Z"),
    Wrong(
      #"{"name": "a", "start": "2026-01-01T00:00:00Z", "duration": 0}"#,
      "duration must be between 0.1 and 604800 s, not 0"),
    Wrong(
      #"{"name": "a", "start": "2026-01-01T00:00:00Z", "duration": 1}"#, "beacons is missing"),
    Wrong(
      Scenes.scenario(top: #""speed": 2,"#),
      "speed is not a key; known are name, description, seed, start, duration, format, environment,"
        + " beacons, clutter"),
    Wrong(
      Scenes.scenario(top: #""seed": -1,"#),
      "seed must be a whole number between 0 and 18446744073709551615"),
    Wrong(
      Scenes.scenario(format: #"{"reportsPerEvent": 26}"#),
      "format.reportsPerEvent must be between 1 and 25, not 26"),
    Wrong(Scenes.scenario(format: "3"), "format must be an object"),
    Wrong(
      Scenes.scenario(format: #"{"extended": "yes"}"#), "format.extended must be true or false"),
    Wrong(
      Scenes.scenario(environment: #"{"noise": 21}"#),
      "environment.noise must be between 0 and 20 dB, not 21"),
    Wrong(
      Scenes.scenario(environment: #"{"noiseCorrelation": 61}"#),
      "environment.noiseCorrelation must be between 0 and 60 s, not 61"),
    Wrong(
      Scenes.scenario(environment: #"{"pathLossExponent": 0.5}"#),
      "environment.pathLossExponent must be between 1 and 6, not 0.5"),
    Wrong(
      Scenes.scenario(environment: #"{"hearing": 0}"#),
      "environment.hearing must be between -127 and -20 dBm, not 0"),
    Wrong(
      Scenes.scenario(environment: #"{"loss": 2}"#),
      "environment.loss must be between 0 and 1, not 2"),
    Wrong(Scenes.scenario(beacons: "{}"), "beacons must be a list"),
    Wrong(
      Scenes.scenario(beacons: "[]", clutter: #"[{"kind": "spoofed", "rate": 1}]"#),
      "clutter[0].kind is spoofed, but there is no beacon to imitate"),
  ])
  func top(_ wrong: Wrong) {
    wrong.expectRefusal()
  }

  @Test(arguments: [
    Wrong(
      beacon: Scenes.beacon() + "," + Scenes.beacon(id: "b", minor: 2) + ","
        + Scenes.beacon(id: "c", minor: 3, interval: "5"),
      "beacons[2].interval must be between 20 and 10240 ms, not 5"),
    Wrong(beacon: Scenes.beacon(interval: "true"), "beacons[0].interval must be a number"),
    Wrong(
      beacon: Scenes.beacon(minor: 70000), "beacons[0].minor must be between 0 and 65535, not 70000"
    ),
    Wrong(
      beacon: Scenes.beacon(#""measuredPower": -59.5,"#),
      "beacons[0].measuredPower must be a whole number"),
    Wrong(
      beacon: Scenes.beacon(#""measuredPower": 21,"#),
      "beacons[0].measuredPower must be between -127 and 20 dBm, not 21"),
    Wrong(
      beacon: Scenes.beacon(#""txOffset": 50,"#),
      "beacons[0].txOffset must be between -40 and 40 dB, not 50"),
    Wrong(
      beacon: Scenes.beacon(#""address": "C0:00","#),
      "beacons[0].address must be an address such as C0:00:00:00:00:01"),
    Wrong(
      beacon: Scenes.beacon(#""addressType": "static","#),
      "beacons[0].addressType must be one of public, random, not static"),
    Wrong(
      beacon: Scenes.beacon(#""loss": -1,"#), "beacons[0].loss must be between 0 and 1, not -1"),
    Wrong(
      beacon: Scenes.beacon(#""noise": 99,"#),
      "beacons[0].noise must be between 0 and 20 dB, not 99"),
    Wrong(
      beacon: Scenes.beacon(#""pdu": "direct","#),
      "beacons[0].pdu must be one of nonconn, ind, scan, extended, not direct"),
    Wrong(
      beacon: Scenes.beacon(#""pdu": "extended","#),
      "beacons[0].pdu is extended, which needs format.extended to be true"),
    Wrong(
      beacon: Scenes.beacon(#""extraBytes": 300,"#),
      "beacons[0].extraBytes needs pdu to be extended"),
    Wrong(
      beacon: Scenes.beacon(#""extraBytes": 3, "pdu": "extended","#),
      "beacons[0].extraBytes must be 0 or at least 4"),
    Wrong(
      beacon: Scenes.beacon(#""count": 0,"#), "beacons[0].count must be between 1 and 1000, not 0"),
    Wrong(
      beacon: Scenes.beacon(#""count": 10,"#, minor: 65530),
      "beacons[0].count must not count minor up past 65535"),
    Wrong(beacon: Scenes.beacon(#""signal": 1,"#), "beacons[0].signal must be true or false"),
    Wrong(
      beacon: Scenes.beacon() + "," + Scenes.beacon(minor: 2),
      "beacons[1].id is the same as that of beacons[0]"),
    Wrong(
      beacon: Scenes.beacon() + "," + Scenes.beacon(id: "b"),
      "beacons[1] has a UUID, major and minor that beacons[0] has: "
        + "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:1"),
    Wrong(
      beacon: #"{"id": "a", "uuid": "E2C5"}"#,
      "beacons[0].uuid must be a UUID of 32 hexadecimal digits"),
  ])
  func beacons(_ wrong: Wrong) {
    wrong.expectRefusal()
  }

  @Test(arguments: [
    (
      #""track": [[0, 2], [1, 3]], "rssi": [[0, -60], [1, -60]]"#,
      " must have one of track, rssi and spread, not 2"
    ),
    (#""pdu": "ind""#, " must have one of track, rssi and spread, not 0"),
    (#""track": 5"#, ".track must be a list of [seconds, m] pairs"),
    (#""track": [[0, 2]]"#, ".track must have at least two points"),
    (#""track": [[0, 2], [1]]"#, ".track[1] must be a pair of [seconds, m]"),
    (#""track": [[0, 2], [1, 0]]"#, ".track[1][1] must be between 0.05 and 1000 m, not 0"),
    (#""track": [[5, 2], [5, 3]]"#, ".track[1][0] must be a time after the point before, not 5 s"),
    (
      #""track": [[-5, 2], [5, 3]]"#, ".track[0][0] must be a time after the point before, not -5 s"
    ),
    (#""track": [[0, 2], [21, 3]]"#, ".track[1][0] must not be after the end at 20 s, not 21 s"),
    (#""rssi": [[0, -60], [1, 21]]"#, ".rssi[1][1] must be between -127 and 20 dBm, not 21"),
    (#""rssi": [[0, -60], [25, -60]]"#, ".rssi[1][0] must not be after the end at 20 s, not 25 s"),
    (#""spread": [3, 2]"#, ".spread must be a list of two numbers, the lower first"),
    (#""spread": [0, 2]"#, ".spread[0] must be between 0.05 and 1000 m, not 0"),
  ])
  func courses(_ course: String, _ sentence: String) {
    Wrong(beacon: Scenes.beacon(course: course), "beacons[0]\(sentence)").expectRefusal()
  }

  @Test(arguments: [
    Wrong(
      clutter: #"{"kind": "bats", "rate": 1}"#,
      "clutter[0].kind must be one of appleNearby, eddystoneUID, altBeacon, name, hostCommands, "
        + "malformedAD, shortIBeacon, wrongLengthByte, zeroLength, empty, wrongPower, spoofed, "
        + "vendorEvents, truncatedEvents, not bats"),
    Wrong(clutter: #"{"kind": "name"}"#, "clutter[0].rate is missing"),
    Wrong(
      clutter: #"{"kind": "name", "rate": 101}"#,
      "clutter[0].rate must be between 0.001 and 100 a second, not 101"),
    Wrong(
      clutter: #"{"kind": "name", "rate": 1, "count": 1001}"#,
      "clutter[0].count must be between 1 and 1000, not 1001"),
    Wrong(
      clutter: #"{"kind": "name", "rate": 1, "rssi": [-60, -70]}"#,
      "clutter[0].rssi must be a list of two numbers, the lower first"),
    Wrong(
      clutter: #"{"kind": "name", "rate": 1, "loud": true}"#,
      "clutter[0].loud is not a key; known are kind, rate, count, rssi"),
  ])
  func clutter(_ wrong: Wrong) {
    wrong.expectRefusal()
  }
}
