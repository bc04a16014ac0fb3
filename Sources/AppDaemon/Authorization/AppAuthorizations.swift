package import DBusMessages
import Glibc
package import Logging
package import Scanning
package import ServiceCore
import Synchronization

/// The authorizations of all apps, and those who decide about them.
package final class AppAuthorizations: Sendable {
  package struct Configuration: Sendable {
    /// The path of the administrator's file.
    package var file = SystemAuthorization.path
    /// The path of the file of decisions.
    package var decisions: String
    /// The bus of polkit; `nil` if polkit is not used.
    package var bus: BusAddress? = .system
    /// The nanoseconds that a person has for an answer.
    package var timeout = ConsentAgents.defaultTimeout
    /// The users whose agents answer for all users: root, and the service's own, which can change
    /// the file of decisions.
    package var administrators: Set<UInt32> = [0, geteuid()]

    package init(decisions: String) { self.decisions = decisions }
  }

  /// The agents; add each program that registers.
  package let agents: ConsentAgents
  private let deciders: AppAuthorization.Deciders
  private let registry: Registry

  /// The known apps, which the deciders refer to.
  private final class Registry: Sendable {
    let apps = Mutex<[AppIdentity: AppAuthorization]>([:])
  }

  package init(_ configuration: Configuration, logger: Logger) {
    let registry = Registry()
    self.registry = registry
    agents = ConsentAgents(
      timeout: configuration.timeout, administrators: configuration.administrators
    ) { app, question, answer, user in
      registry.apps.withLock { $0[app] }?.take(answer, to: question.wanted, by: user)
    }
    let polkit = configuration.bus.map { bus in
      PolkitAuthority(on: bus, logger: logger) {
        for app in registry.apps.withLock({ Array($0.values) }) { app.askPolkit() }
      }
    }
    deciders = AppAuthorization.Deciders(
      file: SystemAuthorization(path: configuration.file), polkit: polkit,
      decisions: DecisionStore(path: configuration.decisions, logger: logger), agents: agents)
  }

  deinit {
    deciders.polkit?.stop()
    // The apps refer to the agents, which refer to them.
    registry.apps.withLock { $0 = [:] }
  }

  /// Returns an app's authorization, which is created once. `onChange` is called, without a lock and
  /// on any thread, when the decision may have changed; the first one given is used.
  package func authorization(
    of app: AppIdentity, onChange: @escaping @Sendable () -> Void
  ) -> AppAuthorization {
    registry.apps.withLock { apps in
      if let known = apps[app] { return known }
      let new = AppAuthorization(app, deciders, onChange: onChange)
      apps[app] = new
      return new
    }
  }

  /// Forgets an app that has neither a connection nor anything registered. Its decision stays.
  package func forget(_ app: AppIdentity) {
    _ = registry.apps.withLock { $0.removeValue(forKey: app) }
    agents.withdraw(app)
  }

  /// Removes a person's decision about an app, so that the app's next request is asked, or denies
  /// the app, by a `user`. Calls a function, on another thread, when that is stored.
  package func revoke(
    _ app: AppIdentity, denying: Bool, by user: UInt32,
    then: @escaping @Sendable () -> Void = {}
  ) {
    let decision = denying ? Decision(.denied, since: .now, user: user) : nil
    // After the answers that came before.
    agents.withdraw(app) { [deciders, registry] in
      deciders.decisions.set(decision, for: app)
      registry.apps.withLock { $0[app] }?.forgetRequests()
      then()
    }
  }

  /// Asks whether a program may revoke decisions about an app: its user's programs outside of
  /// sandboxes, root's, and those that polkit permits it.
  package func mayManage(
    _ app: AppIdentity, _ process: PeerProcess, then: @escaping @Sendable (Bool) -> Void
  ) {
    if !process.isConfined, [0, app.user].contains(process.app.user) {
      return then(true)
    }
    guard let polkit = deciders.polkit else { return then(false) }
    polkit.ask(.manage, for: app.identifier, of: process) { then($0 == .yes) }
  }

  /// All apps that are known or decided about, in the order of their identifiers.
  package var records: [AppRecord] {
    let known = registry.apps.withLock { $0 }
    var verdicts = known.mapValues(\.verdict)
    for (app, decision) in deciders.decisions.all where known[app] == nil {
      verdicts[app] = Verdict(
        file: deciders.file.rule(for: app.identifier, scanner: .available), decision: decision)
    }
    return verdicts.map(AppRecord.init).sorted { ($0.app, $0.user) < ($1.app, $1.user) }
  }
}

/// An app, its status, and who decided it.
package struct AppRecord: Codable, Hashable, Sendable {
  /// The app's ``AppIdentity/identifier``.
  package let app: String
  package let user: UInt32
  package let strength: AppIdentity.Strength
  package let status: AuthorizationStatus
  package let decidedBy: Verdict.Origin
  /// The user of the person who decided, and the time, if a person did.
  package let decidingUser: UInt32?
  package let since: WallClockTime?

  var identity: AppIdentity { AppIdentity(app, strength: strength, user: user) }

  init(_ app: AppIdentity, _ verdict: Verdict) {
    self.app = app.identifier
    user = app.user
    strength = app.strength
    status = verdict.status
    decidedBy = verdict.origin
    decidingUser = verdict.user
    since = verdict.since
  }
}
