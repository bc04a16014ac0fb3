import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `monitor` as a line for each event.
final class EventWriter: ResultWriter {
  private let output: StandardOutput
  private let format: OutputFormat
  private let line: EventLine

  init(output: StandardOutput, format: OutputFormat, line: EventLine) {
    (self.output, self.format, self.line) = (output, format, line)
  }

  func write(_ event: MonitorEvent) throws {
    switch format {
    case .json: try output.writeLine(event, event.record)
    case .csv: try output.writeLine(event, EventLine.record, .csv)
    // People see no event in the state with which it starts.
    case .table where event.reason.rule == .request: break
    case .table:
      if !output.hasWritten { try output.write(line.table.header + "\n") }
      try output.write(line.colored(line.table.line(event)) + "\n")
    }
  }

  func end(_ summary: ScanSummary) throws {
    switch format {
    case .json: try output.writeLine(summary, ScanSummary.record)
    case .csv: try output.writeHeader(EventLine.record, .csv)
    case .table:
      if !output.hasWritten { try output.write("no region was entered or left\n") }
      guard summary.evictions > 0 else { return }
      try output.write("\(summary.evictions) beacons made room for others and count as gone\n")
    }
  }
}

/// An event as a line for people.
struct EventLine {
  /// The table of events.
  let table: Table<MonitorEvent>
  private let hasColor: Bool

  /// Events as comma-separated values.
  static let record = MonitorEvent.row()
  private static let kindStart = 25
  private static let kindWidth = 5
  /// A longer name stands out of its column.
  private static let maximumWidth = 40

  init(regions: [NamedRegion], hasColor: Bool) {
    let width = min(max(6, regions.map(\.name.count).max() ?? 0), Self.maximumWidth)
    table = Table(MonitorEvent.row(regionWidth: width).columns)
    self.hasColor = hasColor
  }

  /// A line with its event in color, where color is wanted.
  func colored(_ line: String) -> String {
    guard hasColor else { return line }
    let (before, rest) = (line.prefix(Self.kindStart), line.dropFirst(Self.kindStart))
    let (kind, after) = (rest.prefix(Self.kindWidth), rest.dropFirst(Self.kindWidth))
    let code =
      switch kind {
      case "ENTER": "32"
      case "EXIT ": "33"
      default: "2"
      }
    return "\(before)\u{1B}[\(code)m\(kind)\u{1B}[0m\(after)"
  }
}
