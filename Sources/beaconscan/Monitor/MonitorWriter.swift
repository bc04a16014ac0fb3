import CoreLocation
import Ranging
import Scanning

/// Writes what `monitor` tells.
protocol MonitorWriter: AnyObject {
  /// Whether it shows beacons between events, so that they are ranged.
  var showsBeacons: Bool { get }

  func write(_ event: MonitorEvent) throws

  /// Shows the beacons. To show a moment of the report, `offset` is used.
  func write(_ report: RangingReport, offset: WallClockOffset) throws

  /// Shows what is wrong with the radio, where beacons are shown too; `nil` when all is well.
  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws

  /// Writes what comes at the end.
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws
}

extension MonitorWriter {
  var showsBeacons: Bool { false }
  func write(_ report: RangingReport, offset: WallClockOffset) throws {}
  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws {}
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {}
}
