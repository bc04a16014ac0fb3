import Dispatch
import Scanning
import ServiceCore
import Synchronization

/// The programs that ask a person, each registered on its connection, and the apps' questions.
package final class ConsentAgents: Sendable {
  package typealias ID = UInt64

  /// The nanoseconds that a person has for an answer.
  package static let defaultTimeout: Int64 = 120_000_000_000

  private struct State {
    var board: ConsentBoard
    var latestID: ID = 0
    var channels: [ID: @Sendable (ConsentMessage) -> Void] = [:]
  }

  private let state: Mutex<State>
  private let timeout: Int64
  /// Applies all events and sends all messages, in order.
  let queue = DispatchQueue(label: "beaconscan.consent")
  private let decide: @Sendable (AppIdentity, ConsentQuestion, ConsentAnswer, UInt32) -> Void

  /// Creates a registry without agents. The agents of `administrators` answer for all users.
  /// `decide` gets each answer, with the agent's user.
  package init(
    timeout: Int64 = defaultTimeout, administrators: Set<UInt32> = [0],
    decide: @escaping @Sendable (AppIdentity, ConsentQuestion, ConsentAnswer, UInt32) -> Void
  ) {
    self.timeout = timeout
    state = Mutex(
      State(board: ConsentBoard(timeout: timeout, administrators: administrators)))
    self.decide = decide
  }

  /// Registers an agent of a user, which must not be in a sandbox: it answers for its user, and an
  /// agent of root or of the service's own user for all others too.
  ///
  /// `send` is called in the order of the messages, on one queue. It must not wait.
  package func add(
    of user: UInt32, send: @escaping @Sendable (ConsentMessage) -> Void
  ) -> ID {
    let id = state.withLock { state in
      state.latestID += 1
      state.channels[state.latestID] = send
      return state.latestID
    }
    apply { $0.agentArrives(id, user: user, at: .now) }
    return id
  }

  package func remove(_ id: ID) {
    state.withLock { $0.channels[id] = nil }
    apply { $0.agentEnds(id, at: .now) }
  }

  package func answer(_ answer: ConsentAnswer, to question: UInt64, by id: ID) {
    apply { $0.agentAnswers(answer, to: question, by: id) }
  }

  /// Asks a person, or waits for an agent.
  func request(_ wanted: AuthorizationStatus, for app: AppIdentity) {
    apply { $0.appRequests(wanted, app, at: .now) }
  }

  /// Ends an app's question, then calls a function, after all answers that came before.
  func withdraw(_ app: AppIdentity, then: @escaping @Sendable () -> Void = {}) {
    apply { $0.withdraw(app) }
    queue.async(execute: then)
  }

  private func apply(
    _ event: @escaping @Sendable (inout ConsentBoard) -> [ConsentBoard.Effect]
  ) {
    queue.async { [self] in
      let effects = state.withLock { event(&$0.board) }
      for effect in effects {
        switch effect {
        case .send(let message, let agent): state.withLock { $0.channels[agent] }?(message)
        case .decide(let app, let question, let answer, let user):
          decide(app, question, answer, user)
        }
      }
      guard effects.contains(where: \.isQuestion) else { return }
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: timeout))) { [weak self] in
        self?.apply { $0.timePasses(.now) }
      }
    }
  }
}

extension ConsentBoard.Effect {
  fileprivate var isQuestion: Bool {
    if case .send(.ask, _) = self { true } else { false }
  }
}
