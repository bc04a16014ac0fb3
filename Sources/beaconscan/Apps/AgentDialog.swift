import AppDaemon
import KioskService
import Records
import ServiceCore

/// The open questions of an agent, of which a person is asked the first.
struct AgentDialog {
  /// The user of the agent, whose own apps are not named with their user.
  let user: UInt32
  private(set) var questions: [ConsentQuestion] = []

  init(user: UInt32) { self.user = user }

  var question: ConsentQuestion? { questions.first }

  mutating func receive(_ message: ConsentMessage) {
    switch message {
    case .ask(let question): questions.append(question)
    case .withdraw(let id): questions.removeAll { $0.id == id }
    }
  }

  /// Removes all questions, which are void after the end of the connection.
  mutating func clear() { questions = [] }

  /// Removes a question that was answered.
  mutating func remove(_ id: UInt64) { questions.removeAll { $0.id == id } }

  /// Takes a line of the person. Returns the answer to the first question, or `nil` if it is none.
  mutating func take(_ line: String) -> (question: UInt64, answer: ConsentAnswer)? {
    guard let question, let answer = Self.answer(line) else { return nil }
    remove(question.id)
    return (question.id, answer)
  }

  /// The first question in words; `nil` without one.
  var prompt: String? {
    question.map { question in
      question.sentence(for: user) + ": [o]nce, while in [u]se, "
        + "\(question.wanted == .authorizedAlways ? "[a]lways, " : "")[n]o? "
    }
  }

  /// The requirement for an answer to the first question.
  var requirement: String {
    question?.wanted == .authorizedAlways ? "write o, u, a or n" : "write o, u or n"
  }

  private static func answer(_ line: String) -> ConsentAnswer? {
    switch line.lowercased().filter({ !$0.isWhitespace }) {
    case "o", "once": .once
    case "u", "use", "inuse", "whileinuse": .whileInUse
    case "a", "always": .always
    case "n", "no": .no
    default: nil
    }
  }
}
