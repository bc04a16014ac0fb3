import Dispatch
import FoundationEssentials
package import Logging
import Regions
import Scanning
package import ServiceCore
import Storage
import Synchronization

/// The apps that a daemon serves. Each has a manager with an authorization and a database of its
/// own; all share the daemon's sources.
///
/// An app lives while one of its processes is connected or, with the authorization "always", while
/// it has regions, visits or significant changes. Its events then wait for its next process.
package final class Apps: Sendable {
  package struct Configuration: Sendable {
    /// The folder of the apps' databases; `nil` if nothing outlives the daemon.
    package var folder: String?
    /// The bus of systemd, which starts units of the system; `nil` if it is not used.
    package var units: UnitBus?
    /// The folder of the files that change when an app should start; `nil` for none.
    package var markers: String?
    /// The seconds between attempts to start an app.
    package var pauses: [Double]?
    /// The seconds in which a process connects again after a restart of the daemon, twice the
    /// longest pause of ``DaemonLink``.
    package var returnTime = 10.0
    /// Whether a process runs, after its connection has ended.
    var isRunning: @Sendable (ProcessMark) -> Bool = { $0.isRunning }
    /// The rules of the daemon, of which an app replaces those that it states.
    package var beacons: BeaconService.Configuration
    /// The most apps of a user that live at once.
    package var maximumApps = UserLimit(own: 1024, others: 64)

    package init(folder: String?, beacons: BeaconService.Configuration) {
      self.folder = folder
      self.beacons = beacons
    }
  }

  package let authorizations: AppAuthorizations
  private let configuration: Configuration
  private let beacons: BeaconService
  private let locations: LocationService
  private let logger: Logger
  let sessions = SessionPrograms()
  private let relauncher = Mutex<Relauncher?>(nil)
  private let state = Mutex(State())
  private let storing = Mutex(())

  private struct State {
    var living: [AppIdentity: App] = [:]
    /// The apps that end, each with a group that is left when its database is closed.
    var ending: [AppIdentity: DispatchGroup] = [:]
  }

  private struct App {
    let services: AppServices
    let authorization: AppAuthorization
    var hello: AppHello
    var processes: [PeerProcess] = []
    /// Processes whose connections have ended. They may connect again while they run.
    var earlier: [ProcessMark] = []
    /// The profile that is stored.
    var stored: Profile?
  }

  /// What is stored of an app beside its database, for the daemon's next start.
  private struct Profile: Codable, Equatable {
    var app: AppIdentity
    var hello: AppHello
    /// polkit's answers, which hold while no process of the app runs.
    var polkit: Verdict.PolkitAnswers?
    /// The processes that were connected last.
    var processes: [ProcessMark]?
  }

  package init(
    _ configuration: Configuration, authorizations: AppAuthorizations, beacons: BeaconService,
    locations: LocationService, logger: Logger
  ) {
    self.configuration = configuration
    self.authorizations = authorizations
    self.beacons = beacons
    self.locations = locations
    self.logger = logger
    let starter = AppStarter(
      system: configuration.units, markers: configuration.markers, sessions: sessions)
    let made = Relauncher(pauses: configuration.pauses ?? Relauncher.pauses) { [weak self] in
      self?.need(of: $0) ?? .nothing
    } start: { app, launch, then in
      logger.info("\(app) is started, because events wait for it")
      starter.start(app, launch) { failure in
        if let failure {
          logger.error("\(app) cannot be started for its events: \(failure.sentence)")
        }
        then(failure)
      }
    } end: { [weak self] app in
      guard let self, hasProcesses(app) else { return }
      starter.end(app)
    }
    relauncher.withLock { $0 = made }
  }

  // MARK: Relaunch

  /// Looks whether an app must be started for its events.
  private func updateRelaunch(of app: AppIdentity) { relauncher.withLock { $0 }?.update(app) }

  /// Starts the apps of a user whose events wait, because there is a session now.
  func sessionBegan(of user: UInt32) {
    for app in state.withLock({ $0.living.keys.filter { $0.user == user } }) {
      relauncher.withLock { $0 }?.sessionBegan(for: app)
    }
  }

  /// Starts no app any more, because the daemon ends.
  package func endRelaunch() { relauncher.withLock { $0 = nil } }

  private func need(of identity: AppIdentity) -> Relauncher.Need {
    guard let app = state.withLock({ $0.living[identity] }), app.hello.launch != .never,
      app.services.manager.authorizationStatus == .authorizedAlways,
      app.services.manager.hasWaitingEvents
    else { return .nothing }
    if !app.processes.isEmpty { return .served }
    let isRunning = app.earlier.contains(where: configuration.isRunning)
    return isRunning ? .connecting : .launch(app.hello.launch)
  }

  private func hasProcesses(_ app: AppIdentity) -> Bool {
    state.withLock { $0.living[app]?.processes.isEmpty == false }
  }

  // MARK: Processes

  private enum Admission {
    case admitted(App)
    /// The app lives without processes, with the settings of an earlier one.
    case replaces(App)
    case follows(DispatchGroup)
  }

  /// Returns the services of an app whose process introduces itself. The settings are those of the
  /// first process that is connected. Waits until the services of an earlier one have ended.
  func admit(_ process: PeerProcess, _ hello: AppHello) throws(AppRefusal) -> AppServices {
    let identity = process.app
    var hello = hello
    if process.isContained, identity.strength == .claim {
      switch hello.launch {
      // Its path or its bus name may be another program's outside of the container.
      case .program, .busName: hello.launch = nil
      case .marker, .never, nil: break
      }
    }
    while true {
      let admission = try state.withLock { [hello] state throws(AppRefusal) -> Admission in
        if let ending = state.ending[identity] { return .follows(ending) }
        let known = state.living[identity]
        if let known, known.processes.isEmpty, known.hello.settings != hello.settings {
          remove(identity, &state)
          return .replaces(known)
        }
        if known == nil { try checkRoom(for: identity.user, state) }
        var app = known ?? make(identity, hello)
        if app.processes.isEmpty { app.hello = hello }
        app.processes.append(process)
        app.earlier = []
        state.living[identity] = app
        return .admitted(app)
      }
      switch admission {
      case .follows(let ending): ending.wait()
      case .replaces(let app): close(app, identity)
      case .admitted(let app):
        storeProfile(of: identity)
        app.authorization.add(process)
        updateRelaunch(of: identity)
        app.services.manager.checkAuthorization()
        return app.services
      }
    }
  }

  private func checkRoom(for user: UInt32, _ state: State) throws(AppRefusal) {
    let maximum = configuration.maximumApps[user]
    guard state.living.keys.count(where: { $0.user == user }) < maximum else {
      throw AppRefusal(
        "the user \(user) has \(maximum) apps, the most that one user may have; end one of them, or"
          + " revoke the permission of one that does not run with 'beaconscan apps revoke'")
    }
  }

  /// Records the end of a connection, after its clients were removed.
  func end(_ process: PeerProcess) {
    let authorization = state.withLock { state -> AppAuthorization? in
      // A connection that was not admitted is none of the app's.
      if let index = state.living[process.app]?.processes.firstIndex(where: { $0 === process }) {
        state.living[process.app]?.processes.remove(at: index)
        state.living[process.app]?.earlier.append(process.mark)
      }
      return state.living[process.app]?.authorization
    }
    authorization?.remove(process)
    release(process.app)
    updateRelaunch(of: process.app)
  }

  /// Ends an app that has no process and nothing to do without one.
  private func release(_ identity: AppIdentity) {
    // The first time, this reads the app's database, for which other apps must not wait.
    guard let app = state.withLock({ $0.living[identity] }), app.processes.isEmpty,
      !outlivesItsProcesses(app)
    else { return }
    let ended = state.withLock { state -> App? in
      guard let app = state.living[identity], app.processes.isEmpty, !outlivesItsProcesses(app)
      else { return nil }
      remove(identity, &state)
      return app
    }
    if let ended { close(ended, identity) }
  }

  /// Removes an app, which must then be closed without the lock.
  private func remove(_ identity: AppIdentity, _ state: inout State) {
    // Under the lock, so that the app's next process gets a new authorization.
    authorizations.forget(identity)
    state.living[identity] = nil
    let ending = DispatchGroup()
    ending.enter()
    state.ending[identity] = ending
  }

  private func outlivesItsProcesses(_ app: App) -> Bool {
    configuration.folder != nil
      && app.services.manager.authorizationStatus == .authorizedAlways
      && hasRegistrations(app)
  }

  private func hasRegistrations(_ app: App) -> Bool {
    app.services.beacons.hasRegistrations || app.services.locations.hasRegistrations
  }

  private func close(_ app: App, _ identity: AppIdentity) {
    Task { [self] in
      // Those that are registered count again with a later permission, after the daemon's start.
      let isStored = hasRegistrations(app)
      await close(app)
      if !isStored { removeFiles(of: identity) }
      state.withLock { $0.ending.removeValue(forKey: identity) }?.leave()
    }
  }

  private func close(_ app: App) async {
    await app.services.manager.stop()
    if let sentence = app.services.manager.close() { logger.error("\(sentence)") }
  }

  // MARK: The daemon

  /// Restores the apps that have regions and may use the services at any time.
  package func restore() {
    guard let folder = configuration.folder else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names.sorted() where name.hasSuffix(Self.profileSuffix) {
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
        let profile = try? JSONDecoder().decode(Profile.self, from: data)
      else {
        logger.error("\(folder)/\(name) cannot be read; the app is known again at its next start")
        continue
      }
      var app = make(profile.app, profile.hello)
      app.stored = profile
      app.earlier = profile.processes ?? []
      if let answers = profile.polkit { app.authorization.restore(answers) }
      // The services restore what was registered.
      app.services.manager.checkAuthorization()
      state.withLock { $0.living[profile.app] = $0.living[profile.app] ?? app }
      release(profile.app)
      updateRelaunch(of: profile.app)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + configuration.returnTime) { [weak self] in
      self?.removeEndedGroups()
    }
  }

  /// Removes what processes have registered for themselves that ended with an earlier daemon.
  private func removeEndedGroups() {
    for (identity, app) in state.withLock({ $0.living }) {
      app.services.removeEndedGroups()
      release(identity)
    }
  }

  /// Ends all apps, and stores what waits. Registrations stay.
  package func stop() async {
    let (living, ending) = state.withLock { state in
      defer { state.living = [:] }
      return (Array(state.living.values), Array(state.ending.values))
    }
    for app in living { await close(app) }
    for group in ending {
      await withCheckedContinuation { continuation in
        group.notify(queue: .global()) { continuation.resume() }
      }
    }
  }

  /// The use that each app makes of the services.
  var uses: [AppIdentity: AppUse] {
    // The services are read without the lock.
    let relaunches = relauncher.withLock { $0 }?.reports ?? [:]
    return state.withLock { $0.living }.reduce(into: [:]) { uses, known in
      let app = known.value
      var use = AppUse()
      use.processes = app.processes.map(\.process)
      use.regions = app.services.beacons.regionCount + app.services.locations.circleCount
      use.beacons = app.services.beacons.demand
      use.locations = app.services.locations.isWanted
      use.events = app.services.events.value.load(ordering: .relaxed)
      use.relaunch = relaunches[known.key]
      uses[known.key] = use
    }
  }

  private func make(_ identity: AppIdentity, _ hello: AppHello) -> App {
    let slot = Slot()
    let authorization = authorizations.authorization(of: identity) { [weak self] in
      slot.manager.withLock { $0.value }?.checkAuthorization()
      self?.storeProfile(of: identity)
      // A permission that ends may end an app without processes.
      self?.release(identity)
      self?.updateRelaunch(of: identity)
    }
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = identity.identifier
    settings.authorization = authorization
    settings.logger = logger
    settings.waitingChanged = { [weak self] in self?.updateRelaunch(of: identity) }
    settings.persistence =
      configuration.folder.map { .file("\($0)/\(identity.fileName).sqlite") } ?? .none
    let manager = ServiceManager(settings)
    slot.manager.withLock { $0.value = manager }
    var own = configuration.beacons
    own.rangingInterval = hello.rangingInterval ?? own.rangingInterval
    own.rules = hello.rules ?? own.rules
    own.monitoring.maximumRegions =
      min(hello.maximumRegions ?? .max, own.monitoring.maximumRegions)
    return App(
      services: AppServices(
        manager, BeaconService(manager, sharing: beacons, configuration: own),
        LocationService(manager, sharing: locations)),
      authorization: authorization, hello: hello)
  }

  private final class Slot: Sendable {
    struct Weak: Sendable { weak var value: ServiceManager? }
    let manager = Mutex(Weak())
  }

  private static let profileSuffix = ".app.json"

  /// Removes what is stored of an app that has ended.
  private func removeFiles(of identity: AppIdentity) {
    guard let folder = configuration.folder else { return }
    // Those that do not exist were never stored.
    for suffix in [Self.profileSuffix] + Store.fileSuffixes.map({ ".sqlite\($0)" }) {
      try? FileManager.default.removeItem(atPath: "\(folder)/\(identity.fileName)\(suffix)")
    }
  }

  private func storeProfile(of identity: AppIdentity) {
    guard let folder = configuration.folder else { return }
    // One thread at a time, so that the latest profile is stored last.
    storing.withLock { _ in
      let profile = state.withLock { state -> Profile? in
        guard let app = state.living[identity] else { return nil }
        let profile = Profile(
          app: identity, hello: app.hello, polkit: app.authorization.polkitAnswers,
          processes: app.processes.isEmpty ? app.stored?.processes : app.processes.map(\.mark))
        guard profile != app.stored else { return nil }
        state.living[identity]?.stored = profile
        return profile
      }
      guard let profile else { return }
      do {
        let path = "\(folder)/\(identity.fileName)\(Self.profileSuffix)"
        try JSONEncoder().encode(profile).write(to: URL(filePath: path), options: .atomic)
      } catch {
        logger.error("the app \(identity) is not stored: \(error)")
      }
    }
  }
}
