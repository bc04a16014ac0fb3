import Adapters
import Advertising
import HCIPackets
import HCISockets
import Records

/// Writes adapters.
struct AdapterWriter {
  let output: StandardOutput
  /// The programs that have HCI sockets; the kernel does not show of which adapter.
  let programs: HCIPrograms

  func write(_ adapters: [AdapterDescription], _ format: OutputFormat) throws {
    let rows = adapters.map { ($0, programs) }
    switch format {
    case .json: for row in rows { try output.writeLine(row, AdapterDescription.record) }
    case .csv: try output.writeRows(rows, AdapterDescription.record)
    case .table:
      try output.write(lines: Table(AdapterDescription.record.columns).lines(rows))
      let others = "\(programs)"
      if !others.isEmpty { try output.write("programs with HCI sockets: \(others)\n") }
    }
  }
}

extension AdapterDescription {
  /// A line about an adapter.
  static let record = RecordType<(adapter: AdapterDescription, programs: HCIPrograms)>(
    "adapter",
    [
      Field("name", .matching("^hci[0-9]+$"), column: Column()) { $0.adapter.radio.adapter.name },
      Field("address", .address, column: Column(missing: "none")) {
        $0.adapter.radio.adapter.address
      },
      Field(
        "state", .one(of: ["up", "down", "soft-blocked", "hard-blocked", "held", "not-answering"]),
        column: Column()
      ) { $0.adapter.state },
      Field("bus", .text, column: Column()) { $0.adapter.radio.adapter.bus },
      Field("manufacturer", .integer(0...65535).orNull, column: Column(nil, .right, missing: "?")) {
        $0.adapter.radio.report.version?.company
      },
      Field("hciVersion", .integer(0...255).orNull) { $0.adapter.radio.report.version?.hci },
      Field(
        "bluetooth", .matching("^[1-9][0-9]*\\.[0-9]b?$").orNull,
        column: Column(missing: "?") { row in
          row.adapter.radio.report.version.map { $0.bluetooth ?? "HCI \($0.hci)" }
        }
      ) { $0.adapter.radio.report.version?.bluetooth },
      answer("lowEnergy", "LE") { $0.lowEnergy },
      answer("extendedScan", "EXTENDED") { $0.radio.report.hasExtendedScan },
      answer("extendedAdvertising") { $0.radio.report.hasExtendedAdvertising },
      answer("codedPHY", "CODED") { $0.codedPHY },
      Field(
        "features", .list(of: .text).orNull, csv: .none,
        column: Column("OTHER FEATURES", missing: "?") { row in
          let shown: LEFeatures = [.codedPHY, .extendedAdvertising]
          return row.adapter.radio.report.features?.subtracting(shown).names
            .joined(separator: ", ")
        }
      ) { $0.adapter.radio.report.features?.names },
      Field("programs", each: program) { $0.programs.programs },
      Field("unseenSockets", .count, csv: .none) { $0.programs.unseenUsers.count },
      Field("unknown", .text.orNull, csv: .none) { $0.adapter.unknown },
    ])

  private static let program = RecordType<HCIProgram>(
    nil, type: .none,
    [
      Field("process", .integer(1...)) { $0.process },
      Field("name", .text) { $0.name },
    ])

  /// Whether an adapter has something, with a column where a title is given.
  private static func answer(
    _ key: String, _ title: String? = nil,
    _ answer: @escaping @Sendable (AdapterDescription) -> Bool?
  ) -> Field<(adapter: AdapterDescription, programs: HCIPrograms)> {
    Field(
      key, .boolean.orNull,
      column: title.map { title in
        Column(title, missing: "?") { row in answer(row.adapter).map { $0 ? "yes" : "no" } }
      }
    ) { answer($0.adapter) }
  }
}
