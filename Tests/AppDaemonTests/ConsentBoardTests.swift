import Scanning
import ServiceCore
import TestSupport
import Testing

@testable import AppDaemon

@Suite struct ConsentBoardTests {
  private typealias Effect = ConsentBoard.Effect
  private let app = AppIdentity("user:map.service", strength: .claim, user: 1000)
  private var board = ConsentBoard(timeout: 100)

  private func time(_ nanoseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: nanoseconds)
  }

  private func question(
    _ id: UInt64, _ wanted: AuthorizationStatus = .authorizedWhenInUse
  ) -> ConsentQuestion {
    ConsentQuestion(
      id: id, app: "user:map.service", description: "the user's service map.service",
      wanted: wanted, user: 1000)
  }

  @Test mutating func theNewestAgentOfTheUserIsAskedOnce() {
    #expect(board.agentArrives(1, user: 1000, at: time(0)) == [])
    #expect(board.agentArrives(2, user: 1000, at: time(0)) == [])
    #expect(board.agentArrives(3, user: 0, at: time(0)) == [])
    #expect(board.agentArrives(4, user: 1001, at: time(0)) == [])
    #expect(
      board.appRequests(.authorizedWhenInUse, app, at: time(0))
        == [.send(.ask(question(1)), to: 2)])
    #expect(board.appRequests(.authorizedWhenInUse, app, at: time(0)) == [])
    // Only the agent that was asked may answer, and only once.
    #expect(board.agentAnswers(.always, to: 1, by: 1) == [])
    #expect(board.agentAnswers(.always, to: 2, by: 2) == [])
    #expect(
      board.agentAnswers(.no, to: 1, by: 2) == [.decide(app, question(1), .no, by: 1000)])
    #expect(board.agentAnswers(.no, to: 1, by: 2) == [])
  }

  @Test mutating func rootsAgentIsAskedWhereTheUserHasNone() {
    #expect(board.appRequests(.authorizedWhenInUse, app, at: time(0)) == [])
    #expect(board.agentArrives(1, user: 1001, at: time(0)) == [])
    #expect(
      board.agentArrives(2, user: 0, at: time(0)) == [.send(.ask(question(1)), to: 2)])
    #expect(
      board.agentAnswers(.once, to: 1, by: 2) == [.decide(app, question(1), .once, by: 0)])
  }

  /// The service itself asks in a page, as its own user.
  @Test mutating func anAgentOfTheServiceAnswersForAllUsers() {
    board = ConsentBoard(timeout: 100, administrators: [0, 990])
    _ = board.appRequests(.authorizedWhenInUse, app, at: time(0))
    #expect(board.agentArrives(1, user: 1001, at: time(0)) == [])
    #expect(
      board.agentArrives(2, user: 990, at: time(0)) == [.send(.ask(question(1)), to: 2)])
    // The app's user has an agent of its own for the next question.
    #expect(board.withdraw(app) == [.send(.withdraw(1), to: 2)])
    #expect(board.agentArrives(3, user: 1000, at: time(1)) == [])
    #expect(
      board.appRequests(.authorizedWhenInUse, app, at: time(1))
        == [.send(.ask(question(2)), to: 3)])
  }

  @Test mutating func theNextAgentIsAskedWhenTheFirstEnds() {
    _ = board.agentArrives(1, user: 1000, at: time(0))
    _ = board.agentArrives(2, user: 1000, at: time(0))
    _ = board.appRequests(.authorizedWhenInUse, app, at: time(0))
    #expect(board.agentEnds(2, at: time(1)) == [.send(.ask(question(1)), to: 1)])
    #expect(board.agentEnds(1, at: time(2)) == [])
    #expect(
      board.agentArrives(3, user: 1000, at: time(3)) == [.send(.ask(question(1)), to: 3)])
  }

  @Test mutating func noAnswerInTimeIsNoDecision() {
    _ = board.agentArrives(1, user: 1000, at: time(0))
    _ = board.appRequests(.authorizedWhenInUse, app, at: time(0))
    #expect(board.timePasses(time(99)) == [])
    #expect(board.timePasses(time(100)) == [.send(.withdraw(1), to: 1)])
    #expect(board.agentAnswers(.always, to: 1, by: 1) == [])
    // The silent agent is not asked again by itself, but another one is, and a request asks again.
    #expect(
      board.agentArrives(2, user: 1000, at: time(101)) == [.send(.ask(question(1)), to: 2)])
    #expect(board.agentEnds(2, at: time(102)) == [])
    #expect(
      board.appRequests(.authorizedWhenInUse, app, at: time(103))
        == [.send(.ask(question(2)), to: 1)])
  }

  @Test mutating func aRequestForMoreReplacesTheQuestion() {
    _ = board.agentArrives(1, user: 1000, at: time(0))
    _ = board.appRequests(.authorizedWhenInUse, app, at: time(0))
    #expect(
      board.appRequests(.authorizedAlways, app, at: time(1))
        == [.send(.withdraw(1), to: 1), .send(.ask(question(2, .authorizedAlways)), to: 1)])
    #expect(board.appRequests(.authorizedWhenInUse, app, at: time(2)) == [])
    _ = board.timePasses(time(200))
    // What was wanted before still is.
    #expect(
      board.appRequests(.authorizedWhenInUse, app, at: time(201))
        == [.send(.ask(question(3, .authorizedAlways)), to: 1)])
  }

  @Test mutating func aQuestionEndsWithItsApp() {
    _ = board.agentArrives(1, user: 1000, at: time(0))
    _ = board.appRequests(.authorizedWhenInUse, app, at: time(0))
    #expect(board.withdraw(app) == [.send(.withdraw(1), to: 1)])
    #expect(board.withdraw(app) == [])
    #expect(board.agentAnswers(.always, to: 1, by: 1) == [])
    #expect(board.agentArrives(2, user: 1000, at: time(1)) == [])
  }

  /// Draws orders of all events, and compares the messages with what each agent may see.
  @Test(arguments: 0..<20) mutating func anyOrderAsksOneAgentAtATime(part: UInt64) {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed &+ part)
    let apps = [UInt32(0), 1000, 1000, 1001].enumerated().map {
      AppIdentity("/\($0.offset)", strength: .claim, user: $0.element)
    }
    var agents: [UInt64: UInt32] = [:]
    var open: [UInt64: (agent: UInt64, app: String)] = [:]
    var requested: Set<String> = []
    var latestAgent: UInt64 = 0
    var now: Int64 = 0
    for step in 0..<2000 {
      let place = "seed \(seed), part \(part), step \(step)"
      now += Int64.random(in: 0...30, using: &random)
      let app = apps[Int.random(in: 0..<apps.count, using: &random)]
      let agent = agents.keys.sorted().randomElement(using: &random)
      var answered: UInt64?
      let effects: [ConsentBoard.Effect]
      switch Int.random(in: 0..<7, using: &random) {
      case 0, 1:
        requested.insert(app.identifier)
        let wanted: AuthorizationStatus =
          Bool.random(using: &random) ? .authorizedAlways : .authorizedWhenInUse
        effects = board.appRequests(wanted, app, at: time(now))
      case 2:
        requested.remove(app.identifier)
        effects = board.withdraw(app)
      case 3:
        latestAgent += 1
        agents[latestAgent] = [0, 1000, 1001][Int.random(in: 0..<3, using: &random)]
        effects = board.agentArrives(latestAgent, user: agents[latestAgent] ?? 0, at: time(now))
      case 4:
        guard let agent else { continue }
        agents[agent] = nil
        open = open.filter { $0.value.agent != agent }
        effects = board.agentEnds(agent, at: time(now))
      case 5:
        guard let agent else { continue }
        let question = UInt64.random(in: 0...UInt64(step), using: &random)
        let mine = open.filter { $0.value.agent == agent }.keys.sorted()
        answered = mine.randomElement(using: &random) ?? question
        effects = board.agentAnswers(.always, to: answered ?? 0, by: agent)
        let isValid = answered.flatMap { open[$0] }?.agent == agent
        #expect(effects.count == (isValid ? 1 : 0), "\(place)")
      default: effects = board.timePasses(time(now))
      }
      for effect in effects {
        switch effect {
        case .send(.ask(let question), let agent):
          #expect(open[question.id] == nil, "\(place)")
          #expect(!open.values.contains { $0.app == question.app }, "\(place)")
          #expect(requested.contains(question.app), "\(place)")
          #expect([question.user, 0].contains(agents[agent]), "\(place)")
          open[question.id] = (agent, question.app)
        case .send(.withdraw(let id), let agent):
          #expect(open.removeValue(forKey: id)?.agent == agent, "\(place)")
        case .decide(let app, let question, _, let user):
          #expect(question.id == answered, "\(place)")
          let asked = open.removeValue(forKey: question.id)
          #expect(asked?.app == app.identifier, "\(place)")
          #expect(agents[asked?.agent ?? 0] == user, "\(place)")
          requested.remove(app.identifier)
        }
      }
    }
  }
}
