import FoundationEssentials
import Scanning

extension Scenario: Decodable {
  package init(json: [UInt8]) throws(ScenarioError) {
    do {
      self = try JSONDecoder().decode(Scenario.self, from: Data(json))
    } catch let error as ScenarioError {
      throw error
    } catch {
      let place = jsonFault(in: json).map { ": \($0)" } ?? ""
      throw ScenarioError("the scenario is not JSON\(place)")
    }
  }

  package init(from decoder: any Decoder) throws {
    let fields = try FieldReader(
      decoder,
      keys: [
        "name", "description", "seed", "start", "duration", "format", "environment", "beacons",
        "clutter",
      ])
    name = try fields.text("name")
    description = try fields.text("description", default: "")
    seed = try fields.value("seed", "a whole number between 0 and \(UInt64.max)", default: 1)
    guard let start = WallClockTime(rfc3339: try fields.text("start")) else {
      throw fields.fail("start", "must be a time in UTC such as 2026-01-01T00:00:00Z")
    }
    self.start = start
    duration = try fields.number("duration", 0.1...604_800, "s")
    format = try fields.value("format", "an object", default: ReportFormat())
    environment = try fields.value("environment", "an object", default: Environment())
    beacons = try fields.value("beacons", "a list")
    clutter = try fields.value("clutter", "a list", default: [])
    try validate()
  }
}

extension Scenario.ReportFormat: Decodable {
  package init(from decoder: any Decoder) throws {
    let fields = try FieldReader(decoder, keys: ["reportsPerEvent", "extended"])
    reportsPerEvent = try fields.integer("reportsPerEvent", 1...25, default: reportsPerEvent)
    isExtended = try fields.value("extended", "true or false", default: isExtended)
  }
}

extension Scenario.Environment: Decodable {
  package init(from decoder: any Decoder) throws {
    let fields = try FieldReader(
      decoder, keys: ["pathLossExponent", "noise", "noiseCorrelation", "hearing", "loss"])
    pathLossExponent = try fields.number("pathLossExponent", 1...6, default: pathLossExponent)
    noise = try fields.number("noise", 0...20, "dB", default: noise)
    noiseCorrelation = try fields.number("noiseCorrelation", 0...60, "s", default: noiseCorrelation)
    sensitivity = try fields.number("hearing", -127...(-20), "dBm", default: sensitivity)
    loss = try fields.number("loss", 0...1, default: loss)
  }
}
