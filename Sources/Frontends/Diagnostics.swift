package import Logging

package func diagnostics(to report: @escaping @Sendable (String) -> Void) -> Logger {
  Logger(label: "beaconscan") { _ in Diagnostics(report: report) }
}

private struct Diagnostics: LogHandler {
  let report: @Sendable (String) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.notice

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { report("beaconscan: \(event.message)") }
}
