/// Something that was checked on this host, and its result.
package struct Finding: Hashable, Sendable {
  /// How bad it is.
  package enum Level: String, Hashable, Sendable {
    /// As it should be.
    case ok
    /// Scanning does not need it.
    case info
    /// Scanning works, but not as well as it could.
    case warning
    /// Scanning does not work.
    case error
  }

  /// What was checked.
  package enum Subject: String, Hashable, Sendable, CaseIterable {
    case kernel
    /// Whether this process may use it from where it runs.
    case network
    case kernelVersion = "kernel-version"
    case adapter
    /// Whether something blocks it.
    case rfkill
    /// Whether a program has it for itself.
    case held
    case power
    /// Whether this process may scan.
    case permission
    case answer
    case lowEnergy = "low-energy"
    /// Whether another program scans.
    case scan
    /// Whether BlueZ's service runs.
    case bluetoothd
  }

  /// What was checked.
  package var subject: Subject
  /// How bad it is.
  package var level: Level
  /// The adapter's name on the host; `nil` for all of the host.
  package var adapter: String?
  package var message: String
  /// The command that fixes it; `nil` where none is needed, or none can.
  package var command: String?

  init(
    _ subject: Subject, _ level: Level, adapter: String? = nil, _ message: String,
    command: String? = nil
  ) {
    (self.subject, self.level, self.adapter) = (subject, level, adapter)
    (self.message, self.command) = (message, command)
  }
}
