import Advertising
import BeaconTesting
import Foundation
import Logging
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import AppDaemon

/// An agent whose person answers as the test says.
private final class ScriptedAgent: Sendable {
  private let state = Mutex<(messages: [ConsentMessage], answers: [ConsentAnswer])>(([], []))
  private let agents: ConsentAgents
  private let id = Mutex<ConsentAgents.ID?>(nil)

  init(_ agents: ConsentAgents, user: UInt32, answers: [ConsentAnswer] = []) {
    self.agents = agents
    state.withLock { $0.answers = answers }
    let id = agents.add(of: user) { [weak self] message in self?.receive(message) }
    self.id.withLock { $0 = id }
  }

  var messages: [ConsentMessage] { state.withLock { $0.messages } }
  var questions: [ConsentQuestion] {
    messages.compactMap { if case .ask(let question) = $0 { question } else { nil } }
  }

  func end() { if let id = id.withLock({ $0 }) { agents.remove(id) } }

  private func receive(_ message: ConsentMessage) {
    let answer = state.withLock { state -> ConsentAnswer? in
      state.messages.append(message)
      guard case .ask = message, !state.answers.isEmpty else { return nil }
      return state.answers.removeFirst()
    }
    if case .ask(let question) = message, let answer { say(answer, to: question.id) }
  }

  func say(_ answer: ConsentAnswer, to question: UInt64) {
    // The first message may come before the registration has returned.
    DispatchQueue.global().async { [self] in
      guard eventually({ id.withLock { $0 } != nil }), let id = id.withLock({ $0 }) else { return }
      agents.answer(answer, to: question, by: id)
    }
  }
}

@Suite(.blocking) struct AppAuthorizationTests {
  private let scratch: Scratch
  private let all: AppAuthorizations
  private let app: AppAuthorization
  private let changes = Counter()

  private final class Counter: Sendable {
    let count = Mutex(0)
  }

  init() throws {
    scratch = try Scratch()
    all = Self.open(scratch)
    let changes = changes
    app = all.authorization(of: Self.map) { changes.count.withLock { $0 += 1 } }
  }

  private static let map = AppIdentity("user:map.service", strength: .claim, user: 1000)

  private static func open(
    _ scratch: Scratch, timeout: Int64 = ConsentAgents.defaultTimeout
  ) -> AppAuthorizations {
    var configuration = AppAuthorizations.Configuration(decisions: scratch["decisions.json"])
    configuration.file = scratch["authorization.json"]
    configuration.bus = nil
    configuration.administrators = [0]
    configuration.timeout = timeout
    return AppAuthorizations(configuration, logger: Logger(label: "test"))
  }

  /// Returns this process as a peer.
  private func process() throws -> PeerProcess {
    var ends: [Int32] = [-1, -1]
    // The array outlives the call.
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    return try PeerProcess(accepted: ends[0])
  }

  private func status(_ app: AppAuthorization? = nil) -> AuthorizationStatus {
    (app ?? self.app).verdict.status
  }

  private func revoke(_ app: AppIdentity, denying: Bool) {
    let isStored = Mutex(false)
    all.revoke(app, denying: denying, by: 1000) { isStored.withLock { $0 = true } }
    #expect(eventually { isStored.withLock { $0 } })
  }

  private func request(_ wanted: AuthorizationStatus) { app.request(wanted, for: "") }

  @Test(arguments: [
    (
      AuthorizationStatus.authorizedWhenInUse, ConsentAnswer.once,
      AuthorizationStatus.authorizedWhenInUse, false
    ),
    (.authorizedWhenInUse, .whileInUse, .authorizedWhenInUse, true),
    // An answer grants no more than was wanted.
    (.authorizedWhenInUse, .always, .authorizedWhenInUse, true),
    (.authorizedWhenInUse, .no, .denied, true),
    (.authorizedAlways, .once, .authorizedWhenInUse, false),
    (.authorizedAlways, .whileInUse, .authorizedWhenInUse, true),
    (.authorizedAlways, .always, .authorizedAlways, true),
    (.authorizedAlways, .no, .denied, true),
  ]) func aPersonIsAskedOnceAndTheAnswerIsKept(
    wanted: AuthorizationStatus, answer: ConsentAnswer, status: AuthorizationStatus,
    isKept: Bool
  ) throws {
    let process = try process()
    app.add(process)
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [answer])
    #expect(self.status() == .notDetermined)
    request(wanted)
    #expect(eventually { self.status() == status })
    #expect(agent.questions.map(\.wanted) == [wanted])
    #expect(eventually { changes.count.withLock { $0 } == 1 })
    request(wanted)
    request(.authorizedWhenInUse)
    all.agents.flush()
    #expect(agent.questions.count == 1)
    #expect(all.records.map(\.decidedBy) == [.person])
    #expect(all.records.map(\.decidingUser) == [1000])

    app.remove(process)
    all.agents.flush()
    #expect(self.status() == (isKept ? status : .notDetermined))
    let later = Self.open(scratch).authorization(of: Self.map) {}
    #expect(self.status(later) == (isKept ? status : .notDetermined))
  }

  @Test(arguments: [
    (ConsentAnswer.always, AuthorizationStatus.authorizedAlways),
    (.whileInUse, .authorizedWhenInUse), (.once, .authorizedWhenInUse),
    (.no, .authorizedWhenInUse),
  ]) func aRaiseToAlwaysIsAskedOnce(answer: ConsentAnswer, status: AuthorizationStatus) throws {
    app.add(try process())
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.whileInUse, answer])
    request(.authorizedWhenInUse)
    #expect(eventually { self.status() == .authorizedWhenInUse })
    request(.authorizedAlways)
    #expect(eventually { changes.count.withLock { $0 } == 2 })
    #expect(self.status() == status)
    request(.authorizedAlways)
    all.agents.flush()
    #expect(agent.questions.map(\.wanted) == [.authorizedWhenInUse, .authorizedAlways])
    // The next process does not ask again either.
    #expect(Self.open(scratch).authorization(of: Self.map) {}.verdict.status == status)
  }

  @Test func whatWasPermittedOnceIsNotKeptByARefusedRaise() throws {
    let process = try process()
    app.add(process)
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.once, .no])
    request(.authorizedWhenInUse)
    #expect(eventually { status() == .authorizedWhenInUse })
    request(.authorizedAlways)
    #expect(eventually { changes.count.withLock { $0 } == 2 })
    request(.authorizedAlways)
    all.agents.flush()
    #expect(agent.questions.count == 2)
    #expect(status() == .authorizedWhenInUse)
    app.remove(process)
    #expect(status() == .notDetermined)
  }

  @Test func withoutAnAgentNobodyDecidesUntilOneArrives() throws {
    app.add(try process())
    request(.authorizedAlways)
    all.agents.flush()
    #expect(app.rule(for: "", scanner: .available) == .undecided)
    #expect(all.records.map(\.decidedBy) == [.nobody])
    // Another user's agent is not asked.
    let other = ScriptedAgent(all.agents, user: 1001, answers: [.always])
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.always])
    #expect(eventually { status() == .authorizedAlways })
    #expect(agent.questions.count == 1)
    #expect(other.messages == [])
  }

  @Test func noAnswerIsNotANo() throws {
    let all = Self.open(scratch, timeout: 1_000_000)
    let app = all.authorization(of: Self.map) {}
    app.add(try process())
    let agent = ScriptedAgent(all.agents, user: 1000)
    app.request(.authorizedWhenInUse, for: "")
    #expect(eventually { agent.messages.count == 2 })
    let id = try #require(agent.questions.first?.id)
    #expect(agent.messages.last == .withdraw(id))
    agent.say(.always, to: id)
    all.agents.flush()
    #expect(app.verdict.status == .notDetermined)
  }

  @Test func aQuestionEndsWithTheApp() throws {
    let process = try process()
    app.add(process)
    let agent = ScriptedAgent(all.agents, user: 1000)
    request(.authorizedWhenInUse)
    #expect(eventually { agent.questions.count == 1 })
    app.remove(process)
    let id = try #require(agent.questions.first?.id)
    #expect(eventually { agent.messages.last == .withdraw(id) })
  }

  @Test(arguments: [false, true]) func aDecisionIsRevoked(denying: Bool) throws {
    app.add(try process())
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.always, .always])
    request(.authorizedAlways)
    #expect(eventually { status() == .authorizedAlways })
    revoke(Self.map, denying: denying)
    #expect(status() == (denying ? .denied : .notDetermined))
    #expect(changes.count.withLock { $0 } == 2)
    request(.authorizedAlways)
    if denying {
      all.agents.flush()
      #expect(agent.questions.count == 1)
      #expect(status() == .denied)
    } else {
      #expect(eventually { status() == .authorizedAlways })
    }
  }

  @Test func anAppThatIsNotKnownIsRevokedToo() {
    let other = AppIdentity("/usr/bin/other", strength: .claim, user: 1000)
    revoke(other, denying: true)
    #expect(all.records.map(\.app) == ["/usr/bin/other", "user:map.service"])
    #expect(all.records.map(\.status) == [.denied, .notDetermined])
    revoke(other, denying: false)
    #expect(all.records.map(\.app) == ["user:map.service"])
  }

  @Test func theAdministratorsFileComesFirst() throws {
    app.add(try process())
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.always])
    func write(_ value: String) throws {
      try scratch.write(Array("{\"user:map.service\": \"\(value)\"}".utf8), "authorization.json")
    }
    for (value, expected) in [
      ("denied", AuthorizationStatus.denied), ("restricted", .restricted),
      ("whenInUse", .authorizedWhenInUse), ("always", .authorizedAlways), ("maybe", .restricted),
    ] {
      try write(value)
      #expect(status() == expected)
      #expect(app.rule(for: "", scanner: .available) == app.verdict.rule)
      request(.authorizedAlways)
      #expect(all.records.map(\.decidedBy) == [.administrator])
    }
    all.agents.flush()
    #expect(agent.questions == [])
    // In the daemon, a request alone grants nothing.
    try write("onRequest")
    #expect(status() == .notDetermined)
    request(.authorizedAlways)
    #expect(eventually { status() == .authorizedAlways })
    #expect(app.rule(for: "", scanner: .notPermitted("a test")) == .denied)
  }

  @Test func programsOfTheUserManageItsApps() throws {
    let process = try process()
    let own = AppIdentity("/usr/bin/own", strength: .claim, user: process.app.user)
    for (app, may) in [(own, true), (Self.map, process.app.user == 0)] {
      let answer = Mutex<Bool?>(nil)
      all.mayManage(app, process) { may in answer.withLock { $0 = may } }
      #expect(answer.withLock { $0 } == may)
    }
  }

  /// The manager of an app receives each change at once, and its radio rests when the app may not
  /// use it any more.
  @Test func aManagerFollowsTheAnswerAndTheRevocation() throws {
    let managers = Mutex<ServiceManager?>(nil)
    let map = AppIdentity("user:other.service", strength: .claim, user: 1000)
    let app = all.authorization(of: map) {
      managers.withLock { $0 }?.checkAuthorization()
    }
    app.add(try process())
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = app
    let manager = ServiceManager(configuration)
    managers.withLock { $0 = manager }
    let scanner = ScriptedScanner(isRecorded: false)
    let beacons = BeaconService(manager, scanner: scanner)
    let client = beacons.addClient()
    let statuses = Mutex<[AuthorizationStatus]>([])
    let reader = manager.addClient { delivery in
      if let event = delivery.event as? AuthorizationEvent {
        statuses.withLock { $0.append(event.status) }
      }
      delivery.acknowledge()
      delivery.finish()
    }
    defer { reader.remove() }
    let uuid = ProximityUUID(high: 1, low: 2)
    try client.startRanging(RangingRequest(BeaconConstraint(uuid: uuid)))

    manager.requestAuthorization(.authorizedWhenInUse)
    all.agents.flush()
    #expect(manager.authorizationStatus == .notDetermined)
    #expect(scanner.demands.allSatisfy { $0 == .none })
    let agent = ScriptedAgent(all.agents, user: 1000, answers: [.whileInUse])
    #expect(eventually { manager.authorizationStatus == .authorizedWhenInUse })
    #expect(eventually { scanner.demands.last.map { $0 != .none } ?? false })
    #expect(agent.questions.count == 1)

    let revocation = ContinuousClock.now
    revoke(map, denying: true)
    #expect(manager.authorizationStatus == .denied)
    #expect(eventually { scanner.demands.last == ScanDemand.none })
    print("the radio rests \(ContinuousClock.now - revocation) after the revocation")
    #expect(eventually { statuses.withLock { $0.last } == .denied })
    #expect(statuses.withLock { $0 } == [.notDetermined, .authorizedWhenInUse, .denied])
    managers.withLock { $0 = nil }
  }

  /// Draws orders of requests, answers, ends of the app and of agents, and revocations.
  @Test(arguments: 0..<10) func anyOrderGrantsOnlyWhatAPersonDid(part: UInt64) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed &+ part)
    let process = try process()
    var isRunning = false
    var agent: ScriptedAgent?
    var mayBeGranted: Set<AuthorizationStatus> = []
    for step in 0..<300 {
      switch Int.random(in: 0..<7, using: &random) {
      case 0:
        if isRunning { app.remove(process) } else { app.add(process) }
        isRunning.toggle()
      case 1, 2:
        let wanted: [AuthorizationStatus] = [.authorizedAlways, .authorizedWhenInUse]
        if isRunning { request(wanted.randomElement(using: &random) ?? .denied) }
      case 3:
        agent?.end()
        agent = Bool.random(using: &random) ? nil : ScriptedAgent(all.agents, user: 1000)
      case 4:
        revoke(Self.map, denying: Bool.random(using: &random))
        #expect(!status().isAuthorized, "seed \(seed), part \(part), step \(step)")
        mayBeGranted = []
      default:
        all.agents.flush()
        guard let agent, let question = agent.questions.last,
          agent.messages.last == .ask(question)
        else { continue }
        let answer = ConsentAnswer.allCases.randomElement(using: &random) ?? .no
        agent.say(answer, to: question.id)
        switch answer {
        case .always: mayBeGranted.insert(question.wanted)
        case .whileInUse, .once: mayBeGranted.insert(.authorizedWhenInUse)
        case .no: break
        }
      }
      let status = status()
      #expect(
        !status.isAuthorized || mayBeGranted.contains(status),
        "seed \(seed), part \(part), step \(step)")
    }
  }
}

extension ConsentAgents {
  /// Waits until all events so far are applied.
  fileprivate func flush() { queue.sync {} }
}
