import AppDaemon
import FoundationEssentials
import Glibc
import HTTPServing
import HTTPTypes
import Records
import ServiceCore
import Synchronization

/// The questions of apps for the pages that have a stream of them open.
///
/// While there is such a page, the form is an agent of the service's user.
final class ConsentForm: Sendable {
  private struct State {
    var pages = 0
    var agent: ConsentAgents.ID?
    /// The number of this registration: messages to an earlier one are void.
    var registration = 0
    var questions: [ConsentQuestion] = []
    /// The number of changes of the questions.
    var version = 0

    /// Returns whether the question was open.
    mutating func remove(_ question: UInt64) -> Bool {
      guard let index = questions.firstIndex(where: { $0.id == question }) else { return false }
      questions.remove(at: index)
      version += 1
      return true
    }
  }

  private let state = Mutex(State())
  private let agents: ConsentAgents
  /// The streams, which wait for a change.
  let waiters = Waiters()
  /// A later run of the service has the same numbers of questions.
  private let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)

  init(_ agents: ConsentAgents) { self.agents = agents }

  /// Writes the open questions, and again after each change, as Server-Sent Events.
  @concurrent func write(to writer: Response.Writer) async throws {
    open()
    defer { close() }
    var text = "retry: 1000\n\n"
    var shown: Int?
    repeat {
      let (version, questions) = state.withLock { ($0.version, $0.questions) }
      if version == shown {
        text = ": keep-alive\n\n"
      } else {
        let list = questions.map {
          String(decoding: ConsentQuestion.record.json((run, $0)), as: UTF8.self)
        }
        text += "event: questions\ndata: {\"questions\":[\(list.joined(separator: ","))]}\n\n"
        shown = version
      }
      try await writer(Array(text.utf8))
      text = ""
    } while await waiters.wait(unless: { [shown] in self.state.withLock { $0.version } != shown })
  }

  /// Answers a question by the body of a request.
  func answer(_ id: Substring, _ body: [UInt8]) throws(HTTPRefusal) {
    guard let question = state.withLock({ $0.questions.first { self.id(of: $0) == id } }) else {
      throw HTTPRefusal(
        .notFound, "there is no such question; it was answered, withdrawn, or never asked")
    }
    let answer = (try? JSONDecoder().decode([String: String].self, from: Data(body)))
      .flatMap { $0.count == 1 ? $0["answer"].flatMap(ConsentAnswer.init) : nil }
    guard let answer, question.answers.contains(answer) else {
      let valid = question.answers.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw HTTPRefusal(
        .unprocessableContent,
        "the body is no answer to this question; write {\"answer\":…} with one of \(valid)")
    }
    state.withLock { state in
      // Before an end of the last page.
      guard state.remove(question.id), let agent = state.agent else { return }
      agents.answer(answer, to: question.id, by: agent)
    }
    waiters.wake()
  }

  /// Registers a new agent for each page, because only that is put a question again which was not
  /// answered in time.
  private func open() {
    state.withLock { state in
      state.pages += 1
      state.registration += 1
      state.questions = []
      state.version += 1
      let registration = state.registration
      let former = state.agent
      state.agent = agents.add(of: geteuid()) { [weak self] message in
        self?.receive(message, of: registration)
      }
      if let former { agents.remove(former) }
    }
  }

  private func close() {
    state.withLock { state in
      state.pages -= 1
      guard state.pages == 0, let agent = state.agent.take() else { return }
      agents.remove(agent)
      state.questions = []
    }
  }

  private func receive(_ message: ConsentMessage, of registration: Int) {
    state.withLock { state in
      guard state.agent != nil, state.registration == registration else { return }
      switch message {
      case .ask(let question):
        state.questions.append(question)
        state.version += 1
      case .withdraw(let id): _ = state.remove(id)
      }
    }
    waiters.wake()
  }

  private func id(of question: ConsentQuestion) -> String { "\(run)-\(question.id)" }
}

extension ConsentQuestion {
  /// A question and the number of the service's run, which its identifier begins with.
  static let record = RecordType<(run: String, question: ConsentQuestion)>(
    nil, named: "question", summary: "May an app use beacons and locations?",
    [
      Field("id", .text) { "\($0.run)-\($0.question.id)" },
      Field("app", .text) { $0.question.app },
      Field("user", .text) { UserName.of($0.question.user) },
      Field("sentence", .text) { $0.question.sentence(for: geteuid()) },
      Field("answers", .list(of: .one(of: ConsentAnswer.allCases.map(\.rawValue)))) { line in
        FieldValue.list(line.question.answers, text: "") { answer, bytes in
          bytes += "\"\(answer.rawValue)\"".utf8
        }
      },
    ])

  /// The question in words, for a person of a user.
  package func sentence(for user: UInt32) -> String {
    let owner = user == self.user ? "" : " of the user \(UserName.of(self.user))"
    let sentence =
      "\(description)\(owner) wants to use beacons and locations"
      + (wanted == .authorizedAlways ? ", also while it does not run" : "")
    return "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())".printable
  }
}
