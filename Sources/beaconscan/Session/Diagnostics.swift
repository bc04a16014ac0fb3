import Logging
import Synchronization

/// A logger's messages as lines for a person. They are held until it is known whether the command starts: one
/// that does not start has one sentence only.
final class DiagnosticLines: Sendable {
  private let say: @Sendable (String) -> Void
  private let held = Mutex<[String]?>([])

  init(_ say: @escaping @Sendable (String) -> Void) {
    self.say = say
  }

  /// The logger whose messages are these lines.
  var logger: Logger { Logger(label: "beaconscan") { _ in Handler(lines: self) } }

  /// Writes what was held, and all that follows at once.
  func release() {
    let lines = held.withLock { held in
      defer { held = nil }
      return held ?? []
    }
    lines.forEach(say)
  }

  private func add(_ line: String) {
    let isHeld = held.withLock { held in
      held?.append(line)
      return held != nil
    }
    if !isHeld { say(line) }
  }

  private struct Handler: LogHandler {
    let lines: DiagnosticLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("beaconscan: \(event.message)") }
  }
}
