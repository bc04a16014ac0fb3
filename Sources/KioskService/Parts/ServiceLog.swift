import Records
import Storage
import SystemPackage

/// Messages on standard error, with priorities for the systemd journal (sd-daemon(3)).
package struct ServiceLog: Sendable {
  private let isQuiet: Bool
  private let isJournal: Bool
  private let print: @Sendable (String) -> Void

  package init(isQuiet: Bool, print: @escaping @Sendable (String) -> Void) {
    self.isQuiet = isQuiet
    self.print = print
    // The variable contains the device and inode of the journal's stream.
    let stream = try? Stat(FileDescriptor.standardError)
    let name = stream.map { "\($0.deviceID.rawValue):\($0.inode.rawValue)" }
    isJournal = name != nil && StatePath.environmentVariable("JOURNAL_STREAM") == name
  }

  package func error(_ sentence: String) { write(3, sentence) }
  package func warning(_ sentence: String) { write(4, sentence) }
  package func notice(_ sentence: String) { if !isQuiet { write(5, sentence) } }

  private func write(_ level: Int, _ sentence: String) {
    let name = "beaconscan: "
    let text = sentence.hasPrefix(name) ? String(sentence.dropFirst(name.count)) : sentence
    print(isJournal ? "<\(level)>\(text)" : name + text)
  }
}
