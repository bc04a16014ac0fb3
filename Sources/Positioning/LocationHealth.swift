package import Clocks
package import Sources

/// A change of a location source's state, which holds until the next one is reported.
package struct LocationHealth: SourceHealth, Codable {
  /// The state from now on.
  package var condition: Condition
  /// What the state is of.
  package var subject: Subject
  /// When the change was noticed.
  package var time: MonotonicTime
  /// What happened, where, and what fixes it: one sentence without a full stop.
  package var sentence: String

  package init(
    _ condition: Condition, of subject: Subject = .locations, at time: MonotonicTime,
    sentence: String
  ) {
    self.condition = condition
    self.subject = subject
    self.time = time
    self.sentence = sentence
  }

  /// Whether nothing can come in this state before something else changes.
  package var isFault: Bool { condition.isFault }

  /// Returns whether another change says the same of the same subject.
  package func isRepetition(of other: LocationHealth) -> Bool {
    condition == other.condition && subject == other.subject
  }

  /// What a source delivers.
  package enum Subject: String, Sendable, Codable {
    /// Fixes, and headings where they come from the same source.
    case locations
    /// Headings of a compass of their own.
    case headings
  }

  /// The states of a source.
  package enum Condition: String, Sendable, CaseIterable, Codable {
    /// Fixes or readings come.
    case receiving
    /// The source works, but does not know the place yet, or no longer.
    case searching
    /// The daemon has no receiver, no compass, or no other source of its own.
    case noReceiver
    /// The daemon is not there.
    case notRunning
    /// The daemon does not answer.
    case notAnswering
    /// The system does not permit this process to use the daemon.
    case notPermitted
    /// The user, or the agent for them, refuses this application its location.
    case denied
    /// The daemon's answer is not understood, or is a refusal for another reason.
    case refused

    /// Whether nothing can come in this state before something else changes.
    package var isFault: Bool {
      switch self {
      case .receiving, .searching: false
      case .noReceiver, .notRunning, .notAnswering, .notPermitted, .denied, .refused: true
      }
    }
  }

  /// Whether the system or the user refuses the application its location.
  package var refusesLocations: Bool {
    subject == .locations && (condition == .denied || condition == .notPermitted)
  }

  /// What the state means for clients.
  package var availability: ScannerAvailability {
    switch condition {
    case .receiving, .searching: .available
    case .notPermitted, .denied: .notPermitted(sentence)
    case .noReceiver, .notRunning, .notAnswering, .refused: .unavailable(sentence)
    }
  }
}
