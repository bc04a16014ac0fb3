package import Clocks
package import Sources

/// The state of a location source, valid until the next report.
package struct LocationHealth: SourceHealth, Codable {
  package var condition: Condition
  package var subject: Subject
  /// The time at which the change was noticed.
  package var time: MonotonicTime
  /// One sentence without a full stop: the event, its place, and the remedy.
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

  /// Whether nothing can be received until something else changes.
  package var isFault: Bool { condition.isFault }

  /// Returns whether the other report has the same condition and subject.
  package func isRepetition(of other: LocationHealth) -> Bool {
    condition == other.condition && subject == other.subject
  }

  /// The deliveries of a source.
  package enum Subject: String, Sendable, Codable {
    /// Fixes, and headings from the same source.
    case locations
    /// Headings of a separate compass.
    case headings
  }

  package enum Condition: String, Sendable, CaseIterable, Codable {
    /// The source delivers fixes or readings.
    case receiving
    /// The source works, but does not know the place yet, or has lost it.
    case searching
    /// The daemon has no receiver, no compass, or no other source of its own.
    case noReceiver
    case notRunning
    case notAnswering
    /// The system does not permit this process to use the daemon.
    case notPermitted
    /// The user or their agent denies this application its location.
    case denied
    /// The daemon's answer is not understood, or refuses for another reason.
    case refused

    package var isFault: Bool { self != .receiving && self != .searching }
  }

  /// Whether the system or the user refuses the application what the source delivers.
  package var isRefusal: Bool { condition == .denied || condition == .notPermitted }

  package var refusesLocations: Bool { subject == .locations && isRefusal }

  package var availability: ScannerAvailability {
    switch condition {
    case .receiving, .searching: .available
    case .notPermitted, .denied: .notPermitted(sentence)
    case .noReceiver, .notRunning, .notAnswering, .refused: .unavailable(sentence)
    }
  }
}
