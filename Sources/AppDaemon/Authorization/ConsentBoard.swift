import Scanning
import ServiceCore

/// The open questions of all apps, at most one for each, and the agents that they are put to.
///
/// Each function is named for an event, and returns the effects in their order.
struct ConsentBoard {
  typealias AgentID = UInt64

  enum Effect: Equatable {
    case send(ConsentMessage, to: AgentID)
    /// An agent of this user has answered.
    case decide(AppIdentity, ConsentQuestion, ConsentAnswer, by: UInt32)
  }

  private struct Agent {
    let id: AgentID
    let user: UInt32
  }

  private struct Entry {
    var question: ConsentQuestion
    /// The agent that was asked, and the time until which it may answer.
    var asked: (agent: AgentID, until: MonotonicTime)?
    /// The agents that did not answer in time.
    var silent: Set<AgentID> = []
  }

  /// The nanoseconds that a person has for an answer.
  private let timeout: Int64
  /// The users whose agents answer for all users.
  private let administrators: Set<UInt32>
  /// Oldest first.
  private var agents: [Agent] = []
  private var entries: [AppIdentity: Entry] = [:]
  private var latestID: UInt64 = 0

  init(timeout: Int64, administrators: Set<UInt32> = [0]) {
    self.timeout = timeout
    self.administrators = administrators
  }

  mutating func appRequests(
    _ wanted: AuthorizationStatus, _ app: AppIdentity, at now: MonotonicTime
  ) -> [Effect] {
    var effects: [Effect] = []
    if let entry = entries[app] {
      let isRaise =
        wanted == .authorizedAlways && entry.question.wanted == .authorizedWhenInUse
      guard entry.asked == nil || isRaise else { return [] }
      // A question that is not asked keeps the most that was wanted.
      if !isRaise, entry.question.wanted != wanted {
        return appRequests(entry.question.wanted, app, at: now)
      }
      effects = withdraw(app)
    }
    latestID += 1
    entries[app] = Entry(
      question: ConsentQuestion(
        id: latestID, app: app.identifier, description: app.description, wanted: wanted,
        user: app.user))
    return effects + ask(app, at: now)
  }

  /// Ends an app's question: it has ended, or its authorization is decided.
  mutating func withdraw(_ app: AppIdentity) -> [Effect] {
    guard let entry = entries.removeValue(forKey: app), let asked = entry.asked else { return [] }
    return [.send(.withdraw(entry.question.id), to: asked.agent)]
  }

  mutating func agentArrives(_ id: AgentID, user: UInt32, at now: MonotonicTime) -> [Effect] {
    agents.append(Agent(id: id, user: user))
    return askOpen(at: now)
  }

  mutating func agentEnds(_ id: AgentID, at now: MonotonicTime) -> [Effect] {
    agents.removeAll { $0.id == id }
    for (app, entry) in entries {
      entries[app]?.silent.remove(id)
      if entry.asked?.agent == id { entries[app]?.asked = nil }
    }
    return askOpen(at: now)
  }

  /// Takes an answer, which counts if this agent was asked this question and may still answer it.
  mutating func agentAnswers(
    _ answer: ConsentAnswer, to question: UInt64, by id: AgentID
  ) -> [Effect] {
    guard let agent = agents.first(where: { $0.id == id }),
      let (app, entry) = entries.first(where: { $0.value.question.id == question }),
      entry.asked?.agent == id
    else { return [] }
    entries[app] = nil
    return [.decide(app, entry.question, answer, by: agent.user)]
  }

  /// Withdraws questions that were not answered in time. They are asked again when another agent
  /// arrives or the app requests again.
  mutating func timePasses(_ now: MonotonicTime) -> [Effect] {
    entries.sorted { $0.value.question.id < $1.value.question.id }.compactMap { app, entry in
      guard let asked = entry.asked, asked.until <= now else { return nil }
      entries[app]?.asked = nil
      entries[app]?.silent.insert(asked.agent)
      return .send(.withdraw(entry.question.id), to: asked.agent)
    }
  }

  private mutating func askOpen(at now: MonotonicTime) -> [Effect] {
    entries.sorted { $0.value.question.id < $1.value.question.id }
      .flatMap { app, entry in entry.asked == nil ? ask(app, at: now) : [] }
  }

  /// Asks the newest agent of the app's user, or else of an administrator.
  private mutating func ask(_ app: AppIdentity, at now: MonotonicTime) -> [Effect] {
    guard let entry = entries[app] else { return [] }
    let agent =
      agents.last { $0.user == app.user && !entry.silent.contains($0.id) }
      ?? agents.last { administrators.contains($0.user) && !entry.silent.contains($0.id) }
    guard let agent else { return [] }
    entries[app]?.asked = (agent.id, now.advanced(by: timeout))
    return [.send(.ask(entry.question), to: agent.id)]
  }
}
