import Adapters
import Advertising
import HCIPackets
import HCISockets

/// Writes adapters.
struct AdapterWriter {
  let output: StandardOutput
  /// The programs that have HCI sockets; the kernel does not show of which adapter.
  let programs: HCIPrograms

  func write(_ adapters: [AdapterDescription], _ format: OutputFormat) throws {
    switch format {
    case .json:
      for adapter in adapters {
        let object = object(adapter)
        try output.write { object.line(into: &$0) }
      }
    case .csv:
      try output.write(
        "name,address,state,bus,manufacturer,hciVersion,bluetooth,lowEnergy,extendedScan,"
          + "extendedAdvertising,codedPHY\n")
      for adapter in adapters { try output.write(row(adapter)) }
    case .table: try writeTable(adapters)
    }
  }

  private func object(_ adapter: AdapterDescription) -> JSONObject {
    let report = adapter.radio.report
    var object = JSONObject(type: "adapter")
    object.set("name", adapter.radio.adapter.name)
    object.set("address", adapter.radio.adapter.address?.description)
    object.set("state", adapter.state)
    object.set("bus", adapter.radio.adapter.bus)
    object.set("manufacturer", report.version?.company)
    object.set("hciVersion", report.version?.hci)
    object.set("bluetooth", report.version?.bluetooth)
    object.set("lowEnergy", adapter.lowEnergy)
    object.set("extendedScan", report.hasExtendedScan)
    object.set("extendedAdvertising", report.hasExtendedAdvertising)
    object.set("codedPHY", adapter.codedPHY)
    object.set("features", report.features?.names)
    object.set(
      "programs",
      programs.programs.map { program in
        var object = JSONObject()
        object.set("process", program.process)
        object.set("name", program.name)
        return object
      })
    object.set("unseenSockets", programs.unseenUsers.count)
    object.set("unknown", adapter.unknown)
    return object
  }

  private func row(_ adapter: AdapterDescription) -> String {
    let report = adapter.radio.report
    func text(_ value: Bool?) -> String? { value.map { "\($0)" } }
    return csvRow([
      adapter.radio.adapter.name, adapter.radio.adapter.address?.description, adapter.state,
      adapter.radio.adapter.bus, report.version.map { "\($0.company)" },
      report.version.map { "\($0.hci)" }, report.version?.bluetooth, text(adapter.lowEnergy),
      text(report.hasExtendedScan), text(report.hasExtendedAdvertising), text(adapter.codedPHY),
    ])
  }

  private func writeTable(_ adapters: [AdapterDescription]) throws {
    var table = Table([
      ("NAME", .left), ("ADDRESS", .left), ("STATE", .left), ("BUS", .left),
      ("MANUFACTURER", .right), ("BLUETOOTH", .left), ("LE", .left), ("EXTENDED", .left),
      ("CODED", .left), ("OTHER FEATURES", .left),
    ])
    func text(_ value: Bool?) -> String { value.map { $0 ? "yes" : "no" } ?? "?" }
    for adapter in adapters {
      let report = adapter.radio.report
      let version = report.version.map { $0.bluetooth ?? "HCI \($0.hci)" }
      let shown: LEFeatures = [.codedPHY, .extendedAdvertising]
      table.add([
        adapter.radio.adapter.name, adapter.radio.adapter.address?.description ?? "none",
        adapter.state, adapter.radio.adapter.bus, report.version.map { "\($0.company)" } ?? "?",
        version ?? "?", text(adapter.lowEnergy), text(report.hasExtendedScan),
        text(adapter.codedPHY),
        report.features?.subtracting(shown).names.joined(separator: ", ") ?? "?",
      ])
    }
    for line in table.lines { try output.write(line + "\n") }
    let others = "\(programs)"
    if !others.isEmpty { try output.write("programs with HCI sockets: \(others)\n") }
  }
}
