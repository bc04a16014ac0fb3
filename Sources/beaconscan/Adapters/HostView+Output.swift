import Advertising
import Glibc
import HCIPackets
import LiveScanning
import Records
import Sources

extension HostView.Radio {
  var state: String {
    switch adapter.block {
    case .hard: "hard-blocked"
    case .soft: "soft-blocked"
    case nil: isHeld ? "held" : !adapter.isUp ? "down" : report.isMute ? "not-answering" : "up"
    }
  }

  /// Whether the adapter supports Bluetooth Low Energy, known only after it was switched on once.
  var lowEnergy: Bool? {
    let isAsked = adapter.features.contains { $0 != 0 }
    return isAsked ? adapter.supportsLE : nil
  }

  var codedPHY: Bool? { report.features.map { $0.contains(.codedPHY) } }

  /// The reason that some values are unknown, or `nil` if none is.
  var unknown: String? {
    if adapter.block != nil { return "it is blocked" }
    if isHeld { return "a program has it for itself" }
    if !adapter.isUp { return "it is switched off" }
    switch report.failure {
    case nil: return nil
    case .socket(let error) where error.errno == EPERM || error.errno == EACCES:
      return "no permission to ask for its Low Energy features"
        + (Doctor.permission().command.map { "; allow it: \($0)" } ?? "")
    case .socket(let error): return "\(error)"
    case .unanswered: return "its controller does not answer"
    case .refused, .cutShort: return report.failure.map { "\($0)" }
    }
  }
}

extension HostView.Radio {
  static let record = RecordType<(radio: HostView.Radio, programs: HCIPrograms)>(
    "adapter",
    [
      Field("name", .adapter, column: Column(priority: .key)) { $0.radio.adapter.name },
      Field("address", .address, column: Column(missing: "none", priority: .main)) {
        $0.radio.adapter.address
      },
      Field(
        "state", .one(of: ["up", "down", "soft-blocked", "hard-blocked", "held", "not-answering"]),
        column: Column(priority: .key)
      ) { $0.radio.state },
      Field("bus", .text, column: Column(priority: .detail)) { $0.radio.adapter.bus },
      Field(
        "manufacturer", .integer(0...65535).orNull,
        column: Column(nil, .right, missing: "?", priority: .detail)
      ) {
        $0.radio.report.version?.company
      },
      Field("hciVersion", .integer(0...255).orNull) { $0.radio.report.version?.hci },
      Field(
        "bluetooth", .matching("^[1-9][0-9]*\\.[0-9]b?$").orNull,
        column: Column(missing: "?") { row in
          row.radio.report.version.map { $0.bluetooth ?? "HCI \($0.hci)" }
        }
      ) { $0.radio.report.version?.bluetooth },
      answer("lowEnergy", "LE") { $0.lowEnergy },
      answer("extendedScan", "EXTENDED") { $0.report.hasExtendedScan },
      answer("extendedAdvertising") { $0.report.hasExtendedAdvertising },
      answer("codedPHY", "CODED") { $0.codedPHY },
      Field(
        "features", .list(of: .text).orNull, isInCSV: false,
        column: Column("OTHER FEATURES", missing: "?", priority: .extra, fit: .cut(to: 20)) { row in
          let shown: LEFeatures = [.codedPHY, .extendedAdvertising]
          return row.radio.report.features?.subtracting(shown).names.joined(separator: ", ")
        }
      ) { $0.radio.report.features?.names },
      Field("programs", each: program) { $0.programs.programs },
      Field("unseenSockets", .count, isInCSV: false) { $0.programs.unseenUsers.count },
      Field("unknown", .text.orNull, isInCSV: false) { $0.radio.unknown },
    ])

  private static let program = RecordType<HCIProgram>(
    nil,
    [
      Field("process", .integer(1...)) { $0.process },
      Field("name", .text) { $0.name },
    ])

  private static func answer(
    _ key: String, _ title: String? = nil,
    _ answer: @escaping @Sendable (HostView.Radio) -> Bool?
  ) -> Field<(radio: HostView.Radio, programs: HCIPrograms)> {
    Field(
      key, .boolean.orNull,
      column: title.map { title in
        Column(title, missing: "?") { row in answer(row.radio).map { $0 ? "yes" : "no" } }
      }
    ) { answer($0.radio) }
  }
}
