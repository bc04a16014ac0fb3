import Dispatch
public import Logging
public import Scanning
package import Storage
import Synchronization

/// The shared manager of a process's services, clients, authorization and persistence.
///
/// ```swift
/// let manager = ServiceManager()
/// let beacons = BeaconService(manager, scanner: LiveScanner())
/// let client = beacons.addClient()
/// manager.requestAuthorization(.authorizedAlways)
/// try client.startRanging(RangingRequest(BeaconConstraint(uuid: uuid)))
/// for try await event in client.events {
///   if case .ranging(let report) = event { print(report.beacons) }
/// }
/// ```
public final class ServiceManager: Sendable {
  /// The settings of a manager.
  public struct Configuration: Sendable {
    /// The identifier under which data is stored; by default the name of the program's file.
    public var applicationIdentifier: String
    /// The part of the system that decides what the application may do.
    public var authorization: any AuthorizationProvider = SystemAuthorization()
    /// The place where registrations, their states and the authorization are stored.
    public var persistence = Persistence.standard
    /// The logger. Until swift-log is bootstrapped, each diagnostic is a line on standard error.
    public var logger = Logger(label: "ServiceCore")
    /// The bounds of the history; `nil` to keep events only until a client has processed them.
    package var history: Store.Limits?
    /// Returns the ``Journal``'s entry for an event, or `nil` to leave it out. With a format,
    /// stored events go to the journal's readers instead of the clients of their groups.
    package var journalFormat: (@Sendable (any ServiceEvent) -> JournalEntry?)?

    /// Called when stored events begin to wait for a client, and when none waits any more.
    package var waitingChanged: (@Sendable () -> Void)?

    /// The daemon that receives and stores in place of this process; `nil` for none.
    package var daemon: DaemonLink?

    /// The seconds between two checks of a resting source with a fault.
    package var secondsBetweenLooks = 5.0

    /// Creates the default settings.
    public init() {
      let path = CommandLine.arguments.first ?? ""
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      applicationIdentifier = name.isEmpty ? "unnamed" : name
    }
  }

  /// The place of an application's data that outlives the process.
  public enum Persistence: Sendable, Hashable, Codable {
    /// A database for each application identifier, in the user's state directory.
    case standard
    /// The database at a path.
    case file(String)
    /// No database: nothing outlives the process.
    case none
  }

  /// The settings.
  public let configuration: Configuration

  let store: RegistrationStore
  var daemon: DaemonLink? { configuration.daemon }
  package let journal: Journal
  private let deliveries: StoredDeliveries
  // Locks are taken in this order: reports, isRestored, a host's state, the manager's state, the
  // settled positions, the deliveries' state, the journal's state, the store's. Clients are called
  // under none of them but reports; observers and loggers under none.
  private let state = Mutex(State())
  private let isRestored = Mutex(false)
  /// Held during reports, so that no client receives an older status after a newer one.
  private let reports = Mutex(())

  private struct State {
    var clients: [ClientIdentifier: Client] = [:]
    var latestClient: UInt64 = 0
    var hosts: [any ServiceHosting] = []
    var status = AuthorizationStatus.notDetermined
    var isRefused = false
    /// The status for clients. A refusal by a source is a denial, though other services continue.
    var reported: AuthorizationStatus { isRefused && status.isAuthorized ? .denied : status }
    var sent: [ClientIdentifier: AuthorizationStatus] = [:]
    var granted: AuthorizationStatus?
    /// The number of the latest check of the system's decision, and of the one that counts.
    var (readings, latestReading) = (0, 0)
    /// The time of the latest check while a source ran, in nanoseconds of uptime.
    var latestCheck: UInt64 = 0
    var isWatching = false
    var endWatch: (@Sendable () -> Void)?
  }

  /// Creates a manager.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    store = RegistrationStore(configuration)
    journal = Journal(store)
    deliveries = StoredDeliveries(store, waitingChanged: configuration.waitingChanged)
    journal.setDelivery { [weak self] event, pause in
      self?.deliveries.append([event], pause)
      self?.deliveries.send(to: event.group)
    } discard: { [weak self] in
      self?.discardStored($0)
    }
    daemon?.attach(self)
  }

  deinit {
    daemon?.close()
    // The timer may fire ten seconds from now.
    state.withLock { $0.endWatch }?()
    deliveries.close()
    // Waiting deliveries retain the client and its buffer.
    for client in state.withLock({ $0.clients.values }) { client.buffer?.close() }
    for host in hosts { host.wake() }
  }

  // MARK: Services

  func add(_ host: any ServiceHosting) {
    let restored = isRestored.withLock { isRestored in
      state.withLock { $0.hosts.append(host) }
      return isRestored ? restore([host]) : nil
    }
    guard let restored else { return }
    finish(restored)
    host.updateAuthorization()
    host.resume()
  }

  private var hosts: [any ServiceHosting] { state.withLock { $0.hosts } }

  /// The availability of the best source.
  public var availability: ScannerAvailability {
    if let daemon { return daemon.beaconStatus.source.availability }
    let hosts = hosts
    let all = hosts.map(\.availability)
    let refusal = all.first { if case .notPermitted = $0 { true } else { false } }
    // Other sources matter only if one is refused. Their known availability may be old.
    if refusal != nil { for host in hosts { host.updateAvailability() } }
    if all.contains(.available) { return .available }
    return refusal ?? all.last ?? .unavailable("there is no service")
  }

  /// Stops every service for good, and waits until no radio receives. Registrations stay stored.
  public func stop() async {
    for host in hosts {
      await withCheckedContinuation { stopped in host.stop { stopped.resume() } }
    }
  }

  /// Stops every service like ``stop()``, on a thread that may be blocked, and stores all events.
  package func stopAndWait() {
    let running = DispatchGroup()
    for host in hosts {
      running.enter()
      host.stop { running.leave() }
    }
    running.wait()
    flush()
  }

  /// Stores what waits and closes the files, after the services were stopped. Returns why not all
  /// is stored, or `nil`.
  @discardableResult
  package func close() -> String? {
    flush()
    return store.database?.close()?.description
  }

  // MARK: Clients

  /// Adds a client that makes requests through a service's view of it, such as ``BeaconClient``.
  ///
  /// - Parameters:
  ///   - group: The group whose registrations the client shares.
  ///   - isReceiving: Whether it can receive events now; see ``ServiceClient/setReceiving(_:)``.
  ///   - pacesRecordings: Whether recordings wait until the client requests its next event.
  /// - Returns: The client, which stays until it is removed.
  public func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true
  ) -> ServiceClient {
    add(group, .buffer(EventBuffer()), isReceiving: isReceiving, pacesRecordings)
  }

  /// Adds a client whose events are passed to a function, which forwards each without waiting.
  package func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true,
    receive: @escaping @Sendable (ServiceDelivery) -> Void
  ) -> ServiceClient {
    add(group, .function(receive), isReceiving: isReceiving, pacesRecordings)
  }

  private func add(
    _ group: ClientGroup, _ sink: Client.Sink, isReceiving: Bool, _ pacesRecordings: Bool
  ) -> ServiceClient {
    if daemon == nil {
      restore()
      checkAuthorization()
    }
    let (client, startsWatch) = state.withLock { state in
      state.latestClient += 1
      let identifier = ClientIdentifier(rawValue: state.latestClient)
      let client = Client(
        identifier, in: group, sink: sink, isReceiving: isReceiving,
        pacesRecordings: pacesRecordings,
        resume: { [weak self] in self?.resume(identifier) })
      state.clients[identifier] = client
      defer { state.isWatching = true }
      return (client, !state.isWatching)
    }
    if let daemon {
      daemon.add(
        client.identifier, in: group, isReceiving: isReceiving, pacesRecordings: pacesRecordings)
      return ServiceClient(client, of: self)
    }
    reportAuthorization()
    if isReceiving { setReceiving(true, for: client) }
    if startsWatch { watchAuthorization() }
    return ServiceClient(client, of: self)
  }

  package func removeClient(_ identifier: ClientIdentifier) {
    let client = state.withLock { state in
      state.sent[identifier] = nil
      return state.clients.removeValue(forKey: identifier)
    }
    // Later requests are dropped, so none is left after the services have removed the client.
    client?.remove()
    daemon?.remove(identifier)
    // The demand ends before the source continues.
    for host in hosts { host.remove(identifier) }
    guard let client else { return }
    client.buffer?.close()
    // Events that only this client had now wait for another one.
    state.withLock { setReceivers(of: client.group, $0, hasArrival: true) }
    deliveries.send(to: client.group)
  }

  func setReceiving(_ isReceiving: Bool, for client: Client) {
    daemon?.setReceiving(isReceiving, client.identifier)
    state.withLock { state in
      client.isReceiving = isReceiving
      client.isReceivingStored = isReceiving
      setReceivers(of: client.group, state, hasArrival: isReceiving)
    }
    deliveries.send(to: client.group)
  }

  private func setReceivers(of group: ClientGroup, _ state: borrowing State, hasArrival: Bool) {
    let receivers = state.clients.values.filter { $0.group == group && $0.isReceivingStored }
    deliveries.setReceivers(receivers, of: group, hasArrival: hasArrival)
  }

  func beginReceiving(_ client: Client) {
    daemon?.beginReceiving(client.identifier)
    client.isReceiving = true
  }

  func client(_ identifier: ClientIdentifier) -> Client? {
    state.withLock { $0.clients[identifier] }
  }

  func clients(_ recipients: (Client) -> Bool) -> [Client] {
    state.withLock { state in
      state.clients.values.filter(recipients).sorted {
        $0.identifier.rawValue < $1.identifier.rawValue
      }
    }
  }

  /// Whether a group has clients in this process.
  package func hasClients(in group: ClientGroup) -> Bool {
    state.withLock { $0.clients.values.contains { $0.group == group } }
  }

  // MARK: Stored events

  /// Whether there are stored events that no client has processed.
  package var hasWaitingEvents: Bool {
    restore()
    return deliveries.areWaiting
  }

  private func resume(_ identifier: ClientIdentifier) {
    if let client = client(identifier) { deliveries.resume(client) }
  }

  private func discardStored(_ key: Store.Key) {
    let group = ClientGroup(key.group)
    deliveries.removeEvents(of: key)
    for client in clients({ $0.group == group }) { client.buffer?.discard { $0.key == key } }
  }

  // MARK: Persistence

  /// Why nothing outlives the process as configured, or `nil`. Waits until the database exists.
  public var storageFailure: String? { storageFault(waiting: true)?.sentence }

  /// Returns why nothing outlives the process as configured, and whether it is the disk, or `nil`.
  package func storageFault(waiting isMade: Bool) -> (sentence: String, isOfDisk: Bool)? {
    store.failure(waiting: isMade).map { ($0.description, $0.isOfDisk) }
  }

  package func addPresence(_ presence: [StoredPresence]) {
    if !presence.isEmpty { store.database?.write(presence.map { .addPresence($0) }) }
  }

  /// Waits until everything that was registered is stored.
  public func flush() {
    if let daemon { return daemon.flush() }
    for host in hosts { host.finishOutput() }
    journal.finish()
    store.database?.flush()
  }

  /// Restores the state of an earlier process, once, without waiting for a sync.
  func restore() {
    // This logs diagnostics, outside of the lock.
    let authorization = store.authorization
    let restored = isRestored.withLock { isRestored -> Restored? in
      guard !isRestored else { return nil }
      isRestored = true
      state.withLock { $0.granted = $0.granted ?? authorization }
      return restore(hosts)
    }
    guard let restored else { return }
    finish(restored)
    // The authorization may have been checked before there were regions.
    for host in hosts { host.resume() }
  }

  /// Restores services before new events, because a group's position must not pass earlier events.
  private func restore(_ hosts: [any ServiceHosting]) -> Restored {
    var all = Restored()
    for host in hosts {
      let restored = host.restore(from: store)
      all.events += restored.events
      all.failures += restored.failures
    }
    if configuration.journalFormat == nil { deliveries.append(all.events) }
    return all
  }

  private func finish(_ restored: Restored) {
    for sentence in restored.failures { store.logger.error("\(sentence)") }
    guard configuration.journalFormat != nil else {
      for group in Set(restored.events.map(\.group)) { deliveries.send(to: group) }
      return
    }
    // The journal's readers receive what a version before 0.2 left for clients.
    for event in restored.events.sorted(by: { $0.id < $1.id }) {
      journal.submit([
        .event(Journal.NewEvent(event: event.event)),
        .call { [store] in store.database?.settle(group: event.key.group, through: event.id) },
      ])
    }
  }

  // MARK: Authorization

  /// The application's authorization now; denied while the source of locations refuses it.
  public var authorizationStatus: AuthorizationStatus {
    if let daemon { return daemon.checkAuthorization() }
    restore()
    return state.withLock { $0.reported }
  }

  /// The provider's latest decision, without reading the store.
  var latestStatus: AuthorizationStatus { state.withLock { $0.status } }

  /// Requests authorization. The answer is an ``AuthorizationEvent``. A request counts only while
  /// the status is not determined, or to go from when-in-use to always.
  public func requestAuthorization(_ wanted: AuthorizationStatus) {
    if let daemon { return daemon.requestAuthorization(wanted) }
    restore()
    configuration.authorization.request(wanted, for: configuration.applicationIdentifier)
    let isGranted = state.withLock { state in
      let isRaise = state.granted == .authorizedWhenInUse && wanted == .authorizedAlways
      guard state.granted == nil || isRaise else { return false }
      state.granted = wanted
      return true
    }
    if isGranted { store.write([.setAuthorization(wanted.rawValue)]) }
    checkAuthorization()
  }

  /// Checks the system's decision, and reports a change to every client.
  public func checkAuthorization() {
    guard daemon == nil else { return }
    let reading = state.withLock { state in
      state.readings += 1
      return state.readings
    }
    let rule = configuration.authorization.rule(
      for: configuration.applicationIdentifier, scanner: availability)
    let (hasChanged, isWithdrawn) = state.withLock { state in
      // Another thread may have checked later and come here first.
      guard reading > state.latestReading else { return (false, false) }
      state.latestReading = reading
      let previous = state.status
      state.status = rule.status(granted: state.granted)
      return (state.status != previous, previous.isAuthorized && !state.status.isAuthorized)
    }
    guard hasChanged else { return }
    // A client gets the status before the events that follow: the failures of what it used. It may
    // start at once what was refused.
    if isWithdrawn { reportAuthorization() }
    for host in hosts { host.updateAuthorization() }
    if !isWithdrawn { reportAuthorization() }
    for host in hosts { host.resume() }
  }

  func setRefused(_ isRefused: Bool) {
    state.withLock { $0.isRefused = isRefused }
    reportAuthorization()
  }

  /// Checks the authorization, unless a source did in the last two seconds, without a timer.
  func checkAuthorizationIfDue() {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = state.withLock { state in
      guard now >= state.latestCheck + 2_000_000_000 else { return false }
      state.latestCheck = now
      return true
    }
    if isDue { checkAuthorization() }
  }

  /// Sends the current status to every client whose last reported status differs.
  private func reportAuthorization() {
    reports.withLock { _ in
      let (status, clients) = state.withLock { state in
        let status = state.reported
        let clients = state.clients.values.filter {
          state.sent[$0.identifier] != status && $0.admits()
        }
        for client in clients { state.sent[client.identifier] = status }
        return (status, clients)
      }
      for client in clients { client.send(AuthorizationEvent(status: status)) }
    }
  }

  /// Checks the authorization at least every ten seconds while there are clients.
  private func watchAuthorization() {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    // With leeway, the timer wakes the process together with another one.
    timer.schedule(deadline: .now() + 8, repeating: 8, leeway: .seconds(2))
    timer.setEventHandler { [weak self] in
      let isWatching = self?.state.withLock { state in
        state.isWatching = !state.clients.isEmpty
        return state.isWatching
      }
      guard let self, isWatching == true else { return timer.cancel() }
      checkAuthorization()
      // A client may have had no room for an earlier status.
      reportAuthorization()
    }
    // Any thread may cancel a source.
    nonisolated(unsafe) let source = timer
    state.withLock { $0.endWatch = { unsafe source.cancel() } }
    timer.activate()
  }
}
