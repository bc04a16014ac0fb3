import Adapters
import Advertising
import Glibc
import HCIPackets
import HCISockets
import Records

/// An adapter in the words of the command's output.
struct AdapterDescription {
  let radio: HostView.Radio

  init(_ radio: HostView.Radio) { self.radio = radio }

  var state: String {
    switch radio.adapter.block {
    case .hard: "hard-blocked"
    case .soft: "soft-blocked"
    case nil:
      radio.isHeld
        ? "held" : !radio.adapter.isUp ? "down" : radio.report.isMute ? "not-answering" : "up"
    }
  }

  /// Whether it has Bluetooth Low Energy. Before it was on for the first time, nobody knows.
  var lowEnergy: Bool? {
    let isAsked = radio.adapter.features.contains { $0 != 0 }
    return isAsked ? radio.adapter.supportsLE : nil
  }

  var codedPHY: Bool? { radio.report.features.map { $0.contains(.codedPHY) } }

  /// Why not all of it is known; `nil` where all is.
  var unknown: String? {
    if radio.adapter.block != nil { return "it is blocked" }
    if radio.isHeld { return "a program has it for itself" }
    if !radio.adapter.isUp { return "it is switched off" }
    switch radio.report.failure {
    case nil: return nil
    case .socket(let error) where error.errno == EPERM || error.errno == EACCES:
      return "no permission to ask for its Low Energy features"
        + (Doctor.permission().command.map { "; allow it: \($0)" } ?? "")
    case .socket(let error): return "\(error)"
    case .unanswered: return "its controller does not answer"
    case .refused, .cutShort: return radio.report.failure.map { "\($0)" }
    }
  }
}

extension AdapterDescription {
  static let record = RecordType<(adapter: AdapterDescription, programs: HCIPrograms)>(
    "adapter",
    [
      Field("name", .adapter, column: Column()) { $0.adapter.radio.adapter.name },
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
          return row.adapter.radio.report.features?.subtracting(shown).names.joined(separator: ", ")
        }
      ) { $0.adapter.radio.report.features?.names },
      Field("programs", each: program) { $0.programs.programs },
      Field("unseenSockets", .count, csv: .none) { $0.programs.unseenUsers.count },
      Field("unknown", .text.orNull, csv: .none) { $0.adapter.unknown },
    ])

  private static let program = RecordType<HCIProgram>(
    nil,
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
