import CoreLocation
import Ranging
import Scanning

/// `range` as JSON lines: one for each region and report, and a summary.
final class JSONRangeWriter: RangeWriter {
  private let output: StandardOutput
  private let regions: [NamedRegion]
  private let showsRaw: Bool

  init(output: StandardOutput, regions: [NamedRegion], showsRaw: Bool) {
    self.output = output
    self.regions = regions
    self.showsRaw = showsRaw
  }

  func write(_ report: RangingReport, offset: WallClockOffset) throws {
    for (name, beacons) in byRegion(report.beacons, regions) {
      var object = JSONObject(type: "range")
      object.set("time", report.time.wallClockTime(offset))
      object.set("region", name)
      object.set("beacons", beacons.map(describe))
      try output.write { object.line(into: &$0) }
    }
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    let object = SummaryObject.make(counts: counts, beacons: beacons, evictions: evictions)
    try output.write { object.line(into: &$0) }
  }

  private func describe(_ beacon: RangedBeacon) -> JSONObject {
    let interval = beacon.estimate?.interval(coverage: 0.95)
    var object = JSONObject()
    object.set(beacon.beacon)
    object.set("proximity", beacon.proximity.name)
    object.set("accuracy", beacon.estimate?.standardDeviation, decimals: 3)
    object.set("distance", beacon.estimate?.distance, decimals: 3)
    object.set("distanceLow", interval?.low, decimals: 3)
    object.set("distanceHigh", interval?.high, decimals: 3)
    object.set("rssi", beacon.rssi)
    object.set("measuredPower", beacon.measuredPower)
    object.set("powerSource", beacon.estimate?.power.source.name)
    object.set("sightings", beacon.sightings)
    if showsRaw {
      object.set("smoothedRSSI", beacon.smoothed, decimals: 2)
      object.set("smoothedError", beacon.smoothedError, decimals: 2)
      object.set("rawDistance", beacon.rawDistance, decimals: 3)
    }
    return object
  }
}

extension MeasuredPower.Source {
  /// Where the power comes from, as JSON has it.
  var name: String {
    switch self {
    case .advertised: "advertised"
    case .configured: "configured"
    case .fallback: "fallback"
    }
  }
}
