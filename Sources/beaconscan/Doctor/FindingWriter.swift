import Adapters
import Records

/// Writes what the doctor found.
struct FindingWriter {
  let output: StandardOutput

  func write(_ findings: [Finding], _ format: OutputFormat) throws {
    switch format {
    case .json: for finding in findings { try output.writeLine(finding, Finding.record) }
    case .csv: try output.writeRows(findings, Finding.record)
    case .table: for finding in findings { try output.write(lines(finding)) }
    }
  }

  /// The level, what was found, and below it what fixes it.
  private func lines(_ finding: Finding) -> String {
    let level = finding.level.rawValue
    let gap = String(repeating: " ", count: max(1, 9 - level.count))
    var text = colored(level, finding.level) + gap + Self.message(finding) + "\n"
    if let command = finding.command { text += "           \(command)\n" }
    return text
  }

  private func colored(_ text: String, _ level: Finding.Level) -> String {
    guard output.hasColor else { return text }
    let color =
      switch level {
      case .ok: 32
      case .info: 36
      case .warning: 33
      case .error: 31
      }
    return "\u{1B}[\(color)m\(text)\u{1B}[0m"
  }

  private static func message(_ finding: Finding) -> String {
    (finding.adapter.map { "\($0): " } ?? "") + finding.message
  }

  /// What was found and what fixes it, as one sentence.
  static func sentence(_ finding: Finding) -> String {
    message(finding) + (finding.command.map { "; run: \($0)" } ?? "")
  }
}

extension Finding {
  /// A line about a finding.
  static let record = RecordType<Finding>(
    "finding",
    [
      Field("id", .one(of: Subject.allCases.map(\.rawValue))) { $0.subject.rawValue },
      Field("level", .one(of: [Level.ok, .info, .warning, .error].map(\.rawValue))) {
        $0.level.rawValue
      },
      Field("adapter", .matching("^hci[0-9]+$").orNull) { $0.adapter },
      Field("message", .text) { $0.message },
      Field("command", .text.orNull) { $0.command },
    ])
}
