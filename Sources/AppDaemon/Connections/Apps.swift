import FoundationEssentials
package import Logging
import Regions
package import ServiceCore
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
    /// The rules of the daemon, of which an app replaces those that it states.
    package var beacons: BeaconService.Configuration

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
  private let apps = Mutex<[AppIdentity: App]>([:])
  let sessions = SessionPrograms()
  private let relauncher = Mutex<Relauncher?>(nil)

  private struct App {
    let services: AppServices
    let authorization: AppAuthorization
    var hello: AppHello
    var processes: [PeerProcess] = []
  }

  /// What is stored of an app beside its database, for the daemon's next start.
  private struct Profile: Codable {
    var app: AppIdentity
    var hello: AppHello
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
        if let failure { logger.error("\(app) cannot be started for its events: \(failure)") }
        then(failure)
      }
    } end: {
      starter.end($0)
    }
    relauncher.withLock { $0 = made }
  }

  // MARK: Relaunch

  /// Looks whether an app must be started for its events.
  private func updateRelaunch(of app: AppIdentity) { relauncher.withLock { $0 }?.update(app) }

  /// Starts the apps of a user whose events wait, because there is a session now.
  func sessionBegan(of user: UInt32) {
    for app in apps.withLock({ $0.keys.filter { $0.user == user } }) {
      relauncher.withLock { $0 }?.retry(app)
    }
  }

  /// Starts no app any more, because the daemon ends.
  package func endRelaunch() { relauncher.withLock { $0 = nil } }

  private func need(of identity: AppIdentity) -> Relauncher.Need {
    guard let app = apps.withLock({ $0[identity] }), app.hello.launch != .never,
      app.services.manager.authorizationStatus == .authorizedAlways,
      app.services.manager.hasWaitingEvents
    else { return .nothing }
    return app.processes.isEmpty ? .launch(app.hello.launch) : .served
  }

  // MARK: Processes

  /// Returns the services of an app whose process introduces itself.
  func admit(_ process: PeerProcess, _ hello: AppHello) -> AppServices {
    let (app, isNew) = apps.withLock { apps in
      var app = apps[process.app] ?? make(process.app, hello)
      app.processes.append(process)
      let isNew = apps[process.app] == nil
      apps[process.app] = app
      return (app, isNew)
    }
    if isNew { store(Profile(app: process.app, hello: hello)) }
    app.authorization.add(process)
    updateRelaunch(of: process.app)
    app.services.manager.checkAuthorization()
    return app.services
  }

  /// Records the end of a connection, after its clients were removed.
  func end(_ process: PeerProcess) {
    let authorization = apps.withLock { apps -> AppAuthorization? in
      apps[process.app]?.processes.removeAll { $0 === process }
      return apps[process.app]?.authorization
    }
    authorization?.remove(process)
    release(process.app)
    updateRelaunch(of: process.app)
  }

  /// Ends an app that has no process and nothing to do without one.
  private func release(_ identity: AppIdentity) {
    let ended = apps.withLock { apps -> App? in
      guard let app = apps[identity], app.processes.isEmpty, !outlivesItsProcesses(app) else {
        return nil
      }
      // Under the lock, so that the app's next process gets a new authorization.
      authorizations.forget(identity)
      return apps.removeValue(forKey: identity)
    }
    if let ended { close(ended) }
  }

  private func outlivesItsProcesses(_ app: App) -> Bool {
    configuration.folder != nil
      && app.services.manager.authorizationStatus == .authorizedAlways
      && (app.services.beacons.hasRegistrations || app.services.locations.hasRegistrations)
  }

  private func close(_ app: App) {
    Task { [logger] in
      await app.services.manager.stop()
      if let sentence = app.services.manager.close() { logger.error("\(sentence)") }
    }
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
      let app = make(profile.app, profile.hello)
      // The services restore what was registered.
      app.services.manager.checkAuthorization()
      apps.withLock { $0[profile.app] = $0[profile.app] ?? app }
      release(profile.app)
      updateRelaunch(of: profile.app)
    }
  }

  /// Ends all apps, and stores what waits. Registrations stay.
  package func stop() async {
    let all = apps.withLock { apps in
      defer { apps = [:] }
      return Array(apps.values)
    }
    for app in all {
      await app.services.manager.stop()
      if let sentence = app.services.manager.close() { logger.error("\(sentence)") }
    }
  }

  /// The use that each app makes of the services.
  var uses: [AppIdentity: AppUse] {
    // The services are read without the lock.
    let relaunches = relauncher.withLock { $0 }?.reports ?? [:]
    return apps.withLock { $0 }.reduce(into: [:]) { uses, known in
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

  private func store(_ profile: Profile) {
    guard let folder = configuration.folder else { return }
    do {
      let path = "\(folder)/\(profile.app.fileName)\(Self.profileSuffix)"
      try JSONEncoder().encode(profile).write(to: URL(filePath: path), options: .atomic)
    } catch {
      logger.error("the app \(profile.app) is not stored: \(error)")
    }
  }
}
