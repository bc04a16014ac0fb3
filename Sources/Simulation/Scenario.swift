import Advertising
package import Scanning

/// A simulated environment of a scanner. docs/scenarios.md describes every key of the file.
package struct Scenario: Sendable {
  package let name: String
  package let description: String
  package var seed: UInt64
  package let start: WallClockTime
  package let duration: Double
  package let format: ReportFormat
  package let environment: Environment
  package let beacons: [Beacon]
  package let clutter: [Clutter]

  package struct ReportFormat: Sendable {
    var reportsPerEvent = 1
    var isExtended = false
  }

  package struct Environment: Sendable {
    var pathLossExponent = 2.0
    var noise = 3.0
    var noiseCorrelation = 0.0
    var sensitivity = -100.0
    var loss = 0.0
  }

  package typealias Point = (seconds: Double, value: Double)
}

extension Scenario {
  package static let maximumSenders = 10_000
  package static let maximumOutput = 20_000_000

  var expectedOutput: Double {
    var output = 0.0
    for beacon in beacons {
      let perSecond = 1000 / beacon.interval * Double(2 + beacon.extraBytes / 229)
      output += duration * Double(beacon.count) * (perSecond + 1)
    }
    for generator in clutter { output += duration * Double(generator.count) * generator.rate * 2 }
    return output
  }

  func validate() throws(ScenarioError) {
    let senders = beacons.reduce(0) { $0 + $1.count } + clutter.reduce(0) { $0 + $1.count }
    guard senders <= Self.maximumSenders else {
      throw ScenarioError(
        "beacons and clutter have \(senders) senders by their counts; at most \(Self.maximumSenders)"
          + " are allowed")
    }
    guard expectedOutput <= Double(Self.maximumOutput) else {
      throw ScenarioError(
        "duration, intervals, counts and rates make about \(Int(expectedOutput)) packets and lines"
          + " of truth; at most \(Self.maximumOutput) are allowed")
    }
    var points = 0
    for (index, beacon) in beacons.enumerated() {
      try validate(beacon, at: "beacons[\(index)]")
      points += beacon.points.count * beacon.count
    }
    guard points <= 200_000 else {
      throw ScenarioError(
        "beacons have \(points) points by their tracks and counts; at most 200000 are allowed")
    }
    try validateIdentities()
    if beacons.isEmpty, let index = clutter.firstIndex(where: { $0.kind == .spoofed }) {
      throw ScenarioError("clutter[\(index)].kind is spoofed, but there is no beacon to imitate")
    }
  }

  private func validate(_ beacon: Beacon, at path: String) throws(ScenarioError) {
    let key = if case .rssi = beacon.course { "rssi" } else { "track" }
    if let index = beacon.points.firstIndex(where: { $0.seconds > duration }) {
      throw ScenarioError(
        "\(path).\(key)[\(index)][0] must not be after the end at \(plain(duration)) s, not"
          + " \(plain(beacon.points[index].seconds)) s")
    }
    if beacon.pdu == .extended, !format.isExtended {
      throw ScenarioError("\(path).pdu is extended, which needs format.extended to be true")
    }
  }

  private func validateIdentities() throws(ScenarioError) {
    var ids: [String: Int] = [:]
    var identities: [BeaconIdentity: Int] = [:]
    for (index, beacon) in beacons.enumerated() {
      if let other = ids.updateValue(index, forKey: beacon.id) {
        throw ScenarioError("beacons[\(index)].id is the same as that of beacons[\(other)]")
      }
      for name in (0..<beacon.count).map(beacon.identity) {
        if let other = identities.updateValue(index, forKey: name) {
          throw ScenarioError(
            "beacons[\(index)] has a UUID, major and minor that beacons[\(other)] has: \(name)")
        }
      }
    }
  }
}
