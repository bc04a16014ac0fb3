import CoreLocation
import Scanning

/// `monitor` as a line for each event, for people and logs.
final class TableMonitorWriter: MonitorWriter {
  private let output: StandardOutput
  private let line: EventLine

  init(output: StandardOutput, line: EventLine) {
    self.output = output
    self.line = line
  }

  func write(_ event: MonitorEvent) throws {
    if !output.hasWritten { try output.write(line.header + "\n") }
    try output.write(line.coloured(line.text(event)) + "\n")
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    if !output.hasWritten { try output.write("no region was entered or left\n") }
    if evictions > 0 {
      try output.write("\(evictions) beacons made room for others and count as gone\n")
    }
  }
}
