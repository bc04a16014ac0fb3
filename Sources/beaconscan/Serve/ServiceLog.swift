import Glibc

/// The service's messages on standard error: with their level in front where the journal reads them (sd-daemon(3)).
struct ServiceLog: Sendable {
  private let isQuiet: Bool
  private let isJournal: Bool

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
    // It names the device and inode of the journal's stream.
    var status = stat()
    // The structure outlives the call.
    let isThere = unsafe fstat(STDERR_FILENO, &status) == 0
    isJournal =
      isThere
      && Settings.variable("JOURNAL_STREAM") == "\(status.st_dev):\(status.st_ino)"
  }

  func error(_ sentence: String) { write(3, sentence) }
  func warning(_ sentence: String) { write(4, sentence) }
  func notice(_ sentence: String) { if !isQuiet { write(5, sentence) } }
  func info(_ sentence: String) { if !isQuiet { write(6, sentence) } }

  private func write(_ level: Int, _ sentence: String) {
    let name = "beaconscan: "
    let text = sentence.hasPrefix(name) ? String(sentence.dropFirst(name.count)) : sentence
    printError(isJournal ? "<\(level)>\(text)" : name + text)
  }
}
