package import Scanning
package import ServiceCore
import Synchronization

/// Decides what one app may do: by the administrator's file, by polkit, and by a person who is
/// asked (docs/authorization.md).
package final class AppAuthorization: AuthorizationProvider {
  package let app: AppIdentity

  /// The deciders, which all apps share.
  struct Deciders {
    let file: SystemAuthorization
    /// `nil` where polkit is not used.
    let polkit: PolkitAuthority?
    let decisions: DecisionStore
    let agents: ConsentAgents
  }

  private struct State {
    /// The connected processes of the app, the newest last.
    var processes: [PeerProcess] = []
    var polkit = Verdict.PolkitAnswers()
    var isAskingPolkit = false
    /// Whether polkit's answer may no longer hold when it comes.
    var mustAskAgain = false
    var once: Verdict.Once?
    /// Whether a person was asked for always since the app started.
    var wasAskedForAlways = false
    /// A request that waits for polkit's answer.
    var wanted: AuthorizationStatus?
    var scanner = ScannerAvailability.available
  }

  private let state = Mutex(State())
  private let deciders: Deciders
  private let onChange: @Sendable () -> Void

  init(_ app: AppIdentity, _ deciders: Deciders, onChange: @escaping @Sendable () -> Void) {
    self.app = app
    self.deciders = deciders
    self.onChange = onChange
  }

  // MARK: The manager

  package func rule(
    for application: String, scanner: ScannerAvailability
  ) -> AuthorizationRule {
    state.withLock { $0.scanner = scanner }
    return verdict.rule
  }

  package func request(_ wanted: AuthorizationStatus, for application: String) {
    guard wanted.isAuthorized, mayAsk(wanted) else { return }
    let hasAnswer = state.withLock { state in
      if state.wanted != .authorizedAlways { state.wanted = wanted }
      return state.polkit.use != nil
    }
    if hasAnswer { askPerson() } else { askPolkit(again: false) }
  }

  /// polkit's latest answers, which an earlier daemon may have got.
  var polkitAnswers: Verdict.PolkitAnswers { state.withLock { $0.polkit } }

  func restore(_ answers: Verdict.PolkitAnswers) { state.withLock { $0.polkit = answers } }

  /// The decision now, and its origin.
  package var verdict: Verdict {
    let (scanner, polkit, once) = state.withLock { ($0.scanner, $0.polkit, $0.once) }
    return Verdict(
      file: deciders.file.rule(for: app.identifier, scanner: scanner), polkit: polkit,
      decision: deciders.decisions[app], once: once)
  }

  // MARK: The app's processes

  /// Records a connection of the app, after its process was identified.
  package func add(_ process: PeerProcess) {
    state.withLock { $0.processes.append(process) }
    askPolkit()
  }

  /// Records the end of a connection. With the last one ends what was permitted once, and a
  /// question to a person is withdrawn.
  package func remove(_ process: PeerProcess) {
    let hasEnded = state.withLock { state in
      state.processes.removeAll { $0 === process }
      guard state.processes.isEmpty else { return false }
      state.once = nil
      state.wasAskedForAlways = false
      state.wanted = nil
      return true
    }
    guard hasEnded else { return }
    // An answer may be on its way.
    deciders.agents.withdraw(app) { [self] in
      state.withLock { $0.once = nil }
      onChange()
    }
  }

  // MARK: polkit

  /// Asks polkit about the newest process, then a person if the app has requested anything. Without
  /// a process, polkit's last answer holds. If polkit is being asked, it is asked `again` then.
  func askPolkit(again: Bool = true) {
    guard let polkit = deciders.polkit else { return askPerson() }
    let (isAsking, process) = state.withLock { state in
      if state.isAskingPolkit {
        state.mustAskAgain = state.mustAskAgain || again
        return (true, nil as PeerProcess?)
      }
      let process = state.processes.last { $0.isAlive }
      state.isAskingPolkit = process != nil
      return (false, process)
    }
    guard !isAsking else { return }
    guard let process else { return askPerson() }
    polkit.ask(.use, for: app.identifier, of: process) { [self] use in
      guard use != .no, use != nil else {
        return take(Verdict.PolkitAnswers(use: use), about: process)
      }
      polkit.ask(.always, for: app.identifier, of: process) { [self] always in
        take(Verdict.PolkitAnswers(use: use, always: always), about: process)
      }
    }
  }

  private func take(_ answers: Verdict.PolkitAnswers, about process: PeerProcess) {
    // polkit did not answer about a process that has ended.
    let isAnswer = process.isAlive
    let (hasChanged, mustAskAgain) = state.withLock { state in
      let before = state.polkit
      if isAnswer { state.polkit = answers }
      defer {
        state.isAskingPolkit = false
        state.mustAskAgain = false
      }
      return (state.polkit != before, state.mustAskAgain || !isAnswer)
    }
    if hasChanged { onChange() }
    if mustAskAgain { askPolkit() } else { askPerson() }
  }

  // MARK: A person

  /// Returns whether a person may be asked: nobody has decided, or when-in-use may become always.
  private func mayAsk(_ wanted: AuthorizationStatus, after verdict: Verdict? = nil) -> Bool {
    let (polkit, wasAsked) = state.withLock { ($0.polkit, $0.wasAskedForAlways) }
    let verdict = verdict ?? self.verdict
    switch verdict.rule {
    case .undecided: return true
    case .granted(.authorizedWhenInUse):
      return wanted == .authorizedAlways && verdict.origin != .administrator
        && polkit.always != .no && !wasAsked
        && deciders.decisions[app]?.wasAskedForAlways != true
    default: return false
    }
  }

  /// Puts the request that waits to a person, unless it is decided.
  private func askPerson() {
    let wanted = state.withLock { state in
      defer { state.wanted = nil }
      return state.wanted
    }
    if let wanted, mayAsk(wanted) {
      deciders.agents.request(wanted, for: app)
    } else if !mayAsk(.authorizedAlways) {
      deciders.agents.withdraw(app)
    }
  }

  /// Takes a person's answer. It grants no more than was wanted.
  func take(_ answer: ConsentAnswer, to wanted: AuthorizationStatus, by user: UInt32) {
    let verdict = verdict
    guard mayAsk(wanted, after: verdict) else { return }
    let now = WallClockTime.now
    let wantedAlways = wanted == .authorizedAlways
    let isRaise = verdict.rule == .granted(.authorizedWhenInUse)
    if wantedAlways { state.withLock { $0.wasAskedForAlways = true } }
    let status: AuthorizationStatus? =
      switch answer {
      case .always: wanted
      case .whileInUse: .authorizedWhenInUse
      case .no: isRaise ? nil : .denied
      case .once: nil
      }
    if let status {
      let decision = Decision(
        status, wasAskedForAlways: wantedAlways, since: now, user: user)
      deciders.decisions.set(decision, for: app)
    } else if var decision = deciders.decisions[app] {
      // What holds stays; the person is not asked for more again.
      decision.wasAskedForAlways = wantedAlways
      deciders.decisions.set(decision, for: app)
    } else if answer == .once {
      state.withLock { state in
        // The app may have ended meanwhile.
        if !state.processes.isEmpty { state.once = Verdict.Once(since: now, user: user) }
      }
    }
    onChange()
  }

  /// Forgets a person's permission until the app ends, and requests that wait for an answer.
  func forgetRequests() {
    state.withLock { state in
      state.once = nil
      state.wasAskedForAlways = false
      state.wanted = nil
    }
    onChange()
  }
}
