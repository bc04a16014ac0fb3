package import ServiceCore

/// A question to a person: may this app use the services?
package struct ConsentQuestion: Codable, Hashable, Sendable {
  /// A number that no other question has.
  package let id: UInt64
  /// The app's ``AppIdentity/identifier``.
  package let app: String
  /// The app in words.
  package let description: String
  /// When-in-use or always.
  package let wanted: AuthorizationStatus
  /// The app's user.
  package let user: UInt32

  /// The answers that a person may give.
  package var answers: [ConsentAnswer] {
    ConsentAnswer.allCases.filter { $0 != .always || wanted == .authorizedAlways }
  }
}

/// A person's answer.
package enum ConsentAnswer: String, Codable, Hashable, Sendable, CaseIterable {
  /// Until the app ends.
  case once
  case whileInUse, always, no
}

/// A message to an agent.
package enum ConsentMessage: Codable, Hashable, Sendable {
  case ask(ConsentQuestion)
  /// The question is void; an answer to it has no effect.
  case withdraw(UInt64)
}
