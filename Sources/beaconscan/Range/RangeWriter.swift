import CoreLocation
import Ranging
import Scanning

/// Writes what `range` reports.
protocol RangeWriter: AnyObject {
  /// Writes one report. To show a moment of it, `offset` is used.
  func write(_ report: RangingReport, offset: WallClockOffset) throws

  /// Whether it shows what is wrong with the radio.
  var showsHealth: Bool { get }

  /// Shows what is wrong with the radio; `nil` when all is well.
  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws

  /// Writes what comes at the end.
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws
}

extension RangeWriter {
  var showsHealth: Bool { false }
  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws {}
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {}
}

extension Proximity {
  /// The zone's name, as JSON and people have it.
  var name: String {
    switch self {
    case .unknown: "unknown"
    case .immediate: "immediate"
    case .near: "near"
    case .far: "far"
    }
  }
}

/// The regions of a report: each with its beacons, or all beacons under no name.
func byRegion(_ beacons: [RangedBeacon], _ regions: [NamedRegion])
  -> [(name: String?, beacons: [RangedBeacon])]
{
  guard !regions.isEmpty else { return [(nil, beacons)] }
  return regions.map { region in
    (region.name, beacons.filter { region.constraint.matches($0.beacon) })
  }
}
