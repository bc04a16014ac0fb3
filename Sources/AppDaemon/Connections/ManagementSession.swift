import Glibc
import Synchronization

/// The connection of a program that manages apps.
final class ManagementSession: Sendable {
  private let process: PeerProcess
  private let apps: Apps
  private let send: @Sendable (ManagementReply) -> Void
  private let agent = Mutex<ConsentAgents.ID?>(nil)
  private let session = Mutex<SessionPrograms.ID?>(nil)

  init(
    _ process: PeerProcess, _ apps: Apps, send: @escaping @Sendable (ManagementReply) -> Void
  ) {
    self.process = process
    self.apps = apps
    self.send = send
  }

  private var authorizations: AppAuthorizations { apps.authorizations }

  func end() {
    if let id = agent.withLock({ $0.take() }) { authorizations.agents.remove(id) }
    if let id = session.withLock({ $0.take() }) { apps.sessions.remove(id) }
  }

  func receive(_ message: ManagementMessage) {
    switch message {
    case .agent: register()
    case .answer(let question, let answer):
      guard let id = agent.withLock({ $0 }) else {
        return send(.failed("an answer needs an agent; send 'agent' first"))
      }
      authorizations.agents.answer(answer, to: question, by: id)
      send(.done)
    case .session: registerSession()
    case .launched(let order, let failure):
      if let id = session.withLock({ $0 }) { apps.sessions.answer(failure, to: order, by: id) }
    case .apps: send(.apps(visibleApps))
    case .revoke(let app, let user, let denying): revoke(app, user, denying: denying)
    }
  }

  private static let confined =
    "a program in a sandbox or a container, or with the attribute NoNewPrivileges,"

  private func register() {
    // Questions follow the answer, because their queue waits for the lock.
    agent.withLock { agent in
      guard agent == nil else { return send(.failed("this connection is an agent already")) }
      guard !process.isConfined else {
        return send(.failed("\(Self.confined) cannot answer for its user; start it outside"))
      }
      agent = authorizations.agents.add(of: process.app.user) { [weak self] message in
        guard let self, self.agent.withLock({ $0 != nil }) else { return }
        send(.consent(message))
      }
      send(.done)
    }
  }

  private func registerSession() {
    guard !process.isConfined else {
      return send(.failed("\(Self.confined) cannot start others; start it outside"))
    }
    let isNew = session.withLock { session in
      guard session == nil else { return false }
      // Before any order.
      send(.done)
      session = apps.sessions.add(of: process.app.user) { [send] in send(.launch($0)) }
      return true
    }
    guard isNew else { return send(.failed("this connection is a session already")) }
    apps.sessionBegan(of: process.app.user)
  }

  /// Whether the program may see the apps of all users, as root and the daemon's own user may.
  private var seesAll: Bool {
    !process.isConfined && [0, geteuid()].contains(process.app.user)
  }

  /// All apps, those of the program's user, or a sandbox itself.
  private var visibleApps: [AppReport] {
    let uses = apps.uses
    let own = process.app
    let seesAll = seesAll
    return authorizations.records
      .filter { record in
        seesAll || record.user == own.user && (!process.isConfined || record.identity == own)
      }
      .map { AppReport(decision: $0, use: uses[$0.identity] ?? AppUse()) }
  }

  private func revoke(_ app: String, _ user: UInt32?, denying: Bool) {
    let user = user ?? (seesAll ? nil : process.app.user)
    let found = authorizations.records.filter { $0.app == app && (user ?? $0.user) == $0.user }
    guard let identity = found.first?.identity else { return send(.failed(Self.absence(of: app))) }
    guard found.count == 1 else {
      let users = found.map { "\($0.user)" }.joined(separator: ", ")
      return send(.failed("several users have the app \(app): \(users); name one of them"))
    }
    authorizations.mayManage(identity, process) { [self] mayManage in
      // Another user's apps are not disclosed.
      guard mayManage else { return send(.failed(Self.absence(of: app))) }
      authorizations.revoke(identity, denying: denying, by: process.app.user) { [self] in
        send(.done)
      }
    }
  }

  private static func absence(of app: String) -> String {
    "there is no app \(app) that you may manage; list the apps for their names and users"
  }
}
