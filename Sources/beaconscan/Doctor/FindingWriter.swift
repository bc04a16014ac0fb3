import Adapters

/// Writes what the doctor found.
struct FindingWriter {
  let output: StandardOutput

  func write(_ findings: [Finding], _ format: OutputFormat) throws {
    if format == .csv { try output.write("id,level,adapter,message,command\n") }
    for finding in findings {
      switch format {
      case .json:
        var object = JSONObject(type: "finding")
        object.set("id", finding.subject.rawValue)
        object.set("level", finding.level.rawValue)
        object.set("adapter", finding.adapter)
        object.set("message", finding.message)
        object.set("command", finding.command)
        try output.write { object.line(into: &$0) }
      case .csv:
        try output.write(
          csvRow([
            finding.subject.rawValue, finding.level.rawValue, finding.adapter, finding.message,
            finding.command,
          ]))
      case .table: try output.write(lines(finding))
      }
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
    guard output.hasColour else { return text }
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
