import DBusMessages
import Foundation
import Logging
import ServiceCore
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import AppDaemon

@Suite(.blocking, .polkit) struct PolkitTests {
  private let scratch: Scratch
  private let bus: BusDaemon

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch, rules: PolkitDaemon.busRules)
  }

  private static func packaging(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "Packaging/\(name)"), encoding: .utf8)
  }

  private func startPolkit(_ rules: String = "", owner: String = "root") throws -> PolkitDaemon {
    // The package's user need not exist here.
    let policy = try Self.packaging("org.beaconscan.policy")
      .replacing("unix-user:beaconscan", with: "unix-user:\(owner)")
    return try PolkitDaemon(on: bus, rules: rules, policy: policy, in: scratch)
  }

  private func rule(_ id: String, _ result: String) -> String {
    """
    polkit.addRule(function (action, subject) {
      if (action.id == "org.beaconscan.\(id)") return polkit.Result.\(result);
    });

    """
  }

  private func open(
    _ process: PeerProcess, onChange: @escaping @Sendable () -> Void = {}
  ) -> (AppAuthorizations, AppAuthorization) {
    var configuration = AppAuthorizations.Configuration(decisions: scratch["decisions.json"])
    configuration.file = scratch["authorization.json"]
    configuration.bus = .address(bus.address)
    let all = AppAuthorizations(configuration, logger: Logger(label: "test"))
    let kiosk = AppIdentity("kiosk.service", strength: .systemUnit, user: process.app.user)
    return (all, all.authorization(of: kiosk, onChange: onChange))
  }

  private func ask(
    _ action: PolkitAuthority.Action, _ process: PeerProcess, app: String = "kiosk.service",
    on address: String? = nil
  ) -> PolkitAuthority.Answer? {
    let polkit = PolkitAuthority(
      on: .address(address ?? bus.address), logger: Logger(label: "test")
    ) {}
    defer { polkit.stop() }
    let answer = Mutex<PolkitAuthority.Answer??>(nil)
    polkit.ask(action, for: app, of: process) { given in answer.withLock { $0 = .some(given) } }
    #expect(eventually { answer.withLock { $0 } != nil })
    return answer.withLock { $0 } ?? nil
  }

  @Test func thePolicyDecidesNothingAndRulesDecide() throws {
    let peer = try Peer()
    let polkit = try startPolkit()
    for action in [PolkitAuthority.Action.use, .always, .manage] {
      #expect(ask(action, peer.process) == .challenge)
    }
    try polkit.setRules(rule("use", "YES") + rule("always", "NO") + rule("manage", "AUTH_SELF"))
    #expect(eventually { ask(.use, peer.process) == .yes })
    #expect(ask(.always, peer.process) == .no)
    #expect(ask(.manage, peer.process) == .challenge)
  }

  @Test func theExampleForAKioskPermitsTheKioskAlone() throws {
    let peer = try Peer()
    let polkit = try startPolkit(try Self.packaging("beaconscan-kiosk.rules"))
    _ = polkit
    for action in [PolkitAuthority.Action.use, .always] {
      #expect(ask(action, peer.process) == .yes)
      #expect(ask(action, peer.process, app: "user:kiosk.service") == .no)
    }
    #expect(ask(.manage, peer.process) == .challenge)
  }

  @Test func noPolkitAndAnEndedProcessArePermittedNothing() throws {
    let peer = try Peer()
    #expect(ask(.use, peer.process) == nil)
    #expect(ask(.use, peer.process, on: "unix:path=\(scratch["none"])") == nil)
    let polkit = try startPolkit(rule("use", "YES"))
    #expect(ask(.use, peer.process) == .yes)
    peer.kill()
    #expect(ask(.use, peer.process) == nil)
    polkit.kill()
    #expect(ask(.use, try Peer().process) == nil)
  }

  /// The service is not root: polkit lets it ask for others and pass details as the owner alone.
  @Test(arguments: [("nobody", true), ("root", false)])
  func theServiceAsksAsTheOwnerOfTheActions(owner: String, may: Bool) throws {
    let peer = try Peer()
    let polkit = try startPolkit(try Self.packaging("beaconscan-kiosk.rules"), owner: owner)
    _ = polkit
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = [
      "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/env",
      "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "/usr/bin/pkcheck", "--action-id",
      "org.beaconscan.use", "--process",
      "\(peer.process.process),\(peer.process.startTime),\(peer.process.app.user)", "--detail",
      "app", "kiosk.service",
    ]
    process.standardError = FileHandle.nullDevice
    let run = try StartedProcess(process)
    run.wait()
    #expect((run.status == 0) == may)
  }

  @Test func anAppFollowsTheRules() throws {
    let peer = try Peer()
    let polkit = try startPolkit(rule("use", "YES") + rule("always", "YES"))
    let changes = Mutex(0)
    let (all, app) = open(peer.process) { changes.withLock { $0 += 1 } }
    app.add(peer.process)
    #expect(eventually { app.verdict.status == .authorizedAlways })
    #expect(eventually { changes.withLock { $0 } == 1 })
    try polkit.setRules(rule("use", "NO"))
    #expect(eventually { app.verdict.status == .restricted })
    #expect(all.records.map(\.decidedBy) == [.polkit])
    // Without a rule, the app's user is asked.
    try polkit.setRules("")
    #expect(eventually { app.verdict.status == .notDetermined })
    let questions = Mutex(0)
    _ = all.agents.add(of: peer.process.app.user) { _ in questions.withLock { $0 += 1 } }
    app.request(.authorizedWhenInUse, for: "")
    #expect(eventually { questions.withLock { $0 } == 1 })
    // A rule that comes while the person is asked decides, and withdraws the question.
    try polkit.setRules(rule("use", "YES") + rule("always", "YES"))
    #expect(eventually { questions.withLock { $0 } == 2 })
    #expect(app.verdict.status == .authorizedAlways)
  }

  @Test func polkitsAnswerHoldsUntilThereIsAnother() throws {
    let peer = try Peer()
    let polkit = try startPolkit(rule("use", "YES"))
    let (all, app) = open(peer.process)
    app.add(peer.process)
    #expect(eventually { app.verdict.status == .authorizedWhenInUse })
    app.remove(peer.process)
    #expect(app.verdict.status == .authorizedWhenInUse)
    // Asked without a polkit, it grants nothing more.
    polkit.kill()
    app.add(peer.process)
    #expect(eventually { app.verdict.status == .notDetermined })
    // A polkit that starts is asked.
    let next = try startPolkit(rule("use", "YES"))
    #expect(eventually { app.verdict.status == .authorizedWhenInUse })
    _ = (all, next)
  }

  @Test func polkitsAnswerHoldsWhenTheAppEndsWhilePolkitIsAsked() throws {
    let peer = try Peer()
    let polkit = try startPolkit(rule("use", "YES"))
    let changes = Mutex(0)
    let (all, app) = open(peer.process) { changes.withLock { $0 += 1 } }
    app.add(peer.process)
    #expect(eventually { app.verdict.status == .authorizedWhenInUse })
    polkit.pause()
    app.askPolkit()
    peer.kill()
    polkit.resume()
    // A request waits for the answer, and then is put to an agent.
    let questions = Mutex(0)
    _ = all.agents.add(of: peer.process.app.user) { _ in questions.withLock { $0 += 1 } }
    app.request(.authorizedAlways, for: "")
    #expect(eventually { questions.withLock { $0 } == 1 })
    #expect(app.verdict.status == .authorizedWhenInUse)
    #expect(changes.withLock { $0 } == 1)
  }

  @Test func aPolkitThatAnswersLateIsAskedAgain() throws {
    let peer = try Peer()
    let daemon = try startPolkit(rule("use", "YES"))
    let changes = Mutex(0)
    let answers = Mutex<[PolkitAuthority.Answer?]>([])
    let polkit = PolkitAuthority(
      on: .address(bus.address), timeout: 100_000_000, logger: Logger(label: "test")
    ) { changes.withLock { $0 += 1 } }
    defer { polkit.stop() }
    func ask() {
      polkit.ask(.use, for: "kiosk.service", of: peer.process) { answer in
        answers.withLock { $0.append(answer) }
      }
    }
    daemon.pause()
    ask()
    ask()
    #expect(eventually { answers.withLock { $0 } == [nil, nil] })
    daemon.resume()
    #expect(eventually { changes.withLock { $0 } > 0 })
    #expect(
      eventually {
        ask()
        return answers.withLock { $0.last } == .yes
      })
  }

  @Test func managersOfOtherUsersNeedARule() throws {
    let peer = try Peer()
    let polkit = try startPolkit(rule("manage", "YES"))
    let (all, _) = open(peer.process)
    let other = AppIdentity("/usr/bin/other", strength: .claim, user: 1)
    func may() -> Bool? {
      let answer = Mutex<Bool?>(nil)
      all.mayManage(other, peer.process) { may in answer.withLock { $0 = may } }
      #expect(eventually { answer.withLock { $0 } != nil })
      return answer.withLock { $0 }
    }
    #expect(may() == true)
    try polkit.setRules("")
    #expect(eventually { may() == false })
  }
}
