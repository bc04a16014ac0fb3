import Records
import Sources

extension StandardOutput {
  func write(_ findings: [Finding], _ form: FormatOptions) throws {
    guard form.format == .table else {
      return try write(findings, Finding.record, form.format)
    }
    apply(form)
    for finding in findings {
      let level = finding.level.rawValue
      let indent = 9
      let gap = String(repeating: " ", count: max(1, indent - level.count))
      let color =
        switch finding.level {
        case .ok: 32
        case .info: 36
        case .warning: 33
        case .error: 31
        }
      let shown = hasColor ? "\u{1B}[\(color)m\(level)\u{1B}[0m" : level
      try write(sentence: finding.text, after: shown + gap, indent: indent)
      if let command = finding.command { try write("           \(command)\n") }
    }
  }
}

extension Finding {
  fileprivate var text: String { (adapter.map { "\($0): " } ?? "") + message }
  var sentence: String { text + (command.map { "; run: \($0)" } ?? "") }

  static let record = RecordType<Finding>(
    "finding",
    [
      Field("id", .one(of: Subject.allCases.map(\.rawValue))) { $0.subject.rawValue },
      Field("level", .one(of: [Level.ok, .info, .warning, .error].map(\.rawValue))) {
        $0.level.rawValue
      },
      Field("adapter", .adapter.orNull) { $0.adapter },
      Field("message", .text) { $0.message },
      Field("command", .text.orNull) { $0.command },
    ])
}
