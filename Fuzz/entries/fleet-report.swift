// Reports of a fleet's receivers. Input: the JSON.

import FleetReports

func check(_ bytes: [UInt8]) {
  guard let report = parse(bytes) else { return }
  require(FleetTopic.isName(report.site) && FleetTopic.isName(report.receiver), "a wrong name")
  require(report.number > 0 && report.seconds > 0, "nothing is covered")
  require(report.delay >= 0 && report.delay <= ReceiverReport.maximumDelay, "a wrong delay")
  require(report.beacons.count <= ReceiverReport.maximumBeacons, "too many beacons")
  require(Set(report.beacons.map(\.beacon)).count == report.beacons.count, "a beacon twice")
  for beacon in report.beacons {
    require(beacon.sightings > 0, "\(beacon) was not received")
    guard let signal = beacon.signal else { continue }
    require(signal.mean <= Double(signal.maximum) && signal.variance >= 0, "\(signal)")
  }
  let json = report.json
  guard let again = parse(json) else {
    return require(false, "\(String(decoding: json, as: UTF8.self)) cannot be read")
  }
  require(again == report && again.json == json, "\(report) became \(again)")
  // The end of the object is needed.
  require(parse(Array(json.dropLast())) == nil, "a prefix was read")
}

private func parse(_ bytes: [UInt8]) -> ReceiverReport? {
  // The array outlives the call.
  unsafe try? ReceiverReport(parsing: bytes.span.bytes)
}
