// Scenarios. Input: JSON. A scenario that is right and short is simulated in both formats, and its
// recording must hold exactly the sightings that its truth names.

import Advertising
import CaptureFiles
import Scanning
import Simulation

func check(_ bytes: [UInt8]) {
  let scenario: Scenario
  do throws(ScenarioError) {
    scenario = try Scenario(json: bytes)
  } catch {
    require(!error.description.isEmpty, "an error without words")
    return
  }
  require(scenario.duration >= 0.1 && scenario.duration <= 604_800, "the duration")
  guard isShort(scenario) else { return }
  for format in CaptureWriter.Format.allCases {
    let made = simulate(scenario, format)
    let reading = Reading(made.recording)
    require(reading.error == nil, "the recording is bad: \(reading.error?.description ?? "")")
    require(reading.stepsBack == 0, "the recording's time goes back")
    let truth = String(decoding: made.truth, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("{\"type\":\"sighting\"") }
    require(reading.sightings.map { line($0) } == truth, "the recording is not as the truth says")
    let again = simulate(scenario, format)
    require(again.recording == made.recording && again.truth == made.truth, "not the same again")
  }
}

private func simulate(
  _ scenario: Scenario, _ format: CaptureWriter.Format
) -> (recording: [UInt8], truth: [UInt8]) {
  var simulator = Simulator(scenario, format: format)
  var recording: [UInt8] = []
  var truth: [UInt8] = []
  while simulator.next(recording: &recording, truth: &truth) {}
  return (recording, truth)
}

/// About how many packets and lines it makes stays small.
private func isShort(_ scenario: Scenario) -> Bool {
  var output = scenario.duration
  for beacon in scenario.beacons {
    let each = (1000 / beacon.interval + 1) * Double(2 + beacon.extraBytes / 229)
    output += Double(beacon.count) * (10 + scenario.duration * each)
  }
  for clutter in scenario.clutter {
    output += Double(clutter.count) * (1 + scenario.duration * clutter.rate * 2)
  }
  return output < 2000
}

private func line(_ sighting: Sighting) -> String {
  let rssi = sighting.rssi.map { "\($0)" } ?? "null"
  let (beacon, power) = (sighting.beacon, sighting.measuredPower)
  return "{\"type\":\"sighting\",\"time\":\"\(sighting.wallTime)\",\"uuid\":\"\(beacon.uuid)\""
    + ",\"major\":\(beacon.major),\"minor\":\(beacon.minor),\"measuredPower\":\(power)"
    + ",\"rssi\":\(rssi),\"address\":\"\(sighting.address)\",\"addressType\":\"\(sighting.addressType)\"}"
}
