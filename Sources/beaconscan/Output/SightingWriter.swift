import Records
import Scanning

/// Writes sightings, one a line.
struct SightingWriter {
  let format: OutputFormat
  let output: StandardOutput
  private let table = Table(Sighting.record.columns)

  init(format: OutputFormat, output: StandardOutput) {
    (self.format, self.output) = (format, output)
  }

  /// Writes the header, where the format has one and it is not there yet.
  func writeHeader() throws {
    switch format {
    case .json: break
    case .csv: try output.writeHeader(Sighting.record.csvHeader)
    case .table: if !output.hasWritten { try output.write(table.header + "\n") }
    }
  }

  /// Writes one sighting.
  ///
  /// - Parameters:
  ///   - sighting: The sighting.
  ///   - namesAdapter: Whether the adapter that received it is known.
  /// - Throws: As ``StandardOutput/flush()``.
  func write(_ sighting: Sighting, namesAdapter: Bool) throws {
    try writeHeader()
    switch format {
    case .json:
      try output.writeLine(
        sighting, namesAdapter ? Sighting.record : Sighting.recordWithoutAdapter)
    case .csv: try output.writeRow(Sighting.record.csvRow(sighting))
    case .table: try output.write(table.line(sighting) + "\n")
    }
  }
}
