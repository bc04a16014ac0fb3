import DequeModule
import Dispatch
public import Logging
public import Scanning
package import Storage
import Synchronization

/// The shared manager of a process's services: the clients, the application's authorization, and what outlives the
/// process.
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
///
/// The manager knows no kind of service: each one, such as ``BeaconService``, adds itself.
public final class ServiceManager: Sendable {
  /// The settings of a manager.
  public struct Configuration: Sendable {
    /// The application's identifier: its registrations and its authorization are stored under this name. The
    /// default is the name of the program's file.
    public var applicationIdentifier: String
    /// The part of the system that decides what the application may do.
    public var authorization: any AuthorizationProvider = SystemAuthorization()
    /// Where registrations, their states and the authorization outlive the process.
    public var persistence = Persistence.standard
    /// Receives diagnostics: one line on standard error each, unless the process has bootstrapped swift-log.
    public var logger = Logger(label: "ServiceCore")
    /// The bounds of the history that the database keeps; `nil` to keep events only until a client has dealt with them.
    package var history: Store.Limits?
    /// Returns what the ``Journal`` has of an event, `nil` for nothing. It is called in the order of the events, on the
    /// journal's queue. Without a format, stored events are delivered to the clients of their groups; with one, the
    /// journal's readers have them.
    package var journalFormat: (@Sendable (any ServiceEvent) -> JournalDescription?)?

    /// The seconds between two looks at a source that rests with a fault.
    package var secondsBetweenLooks = 5.0

    /// Creates the default settings.
    public init() {
      let path = CommandLine.arguments.first ?? ""
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      applicationIdentifier = name.isEmpty ? "unnamed" : name
    }
  }

  /// A place where something outlives the process.
  public enum Persistence: Sendable, Hashable, Codable {
    /// The user's state directory, with a database for each application identifier.
    case standard
    /// The database at a path.
    case file(String)
    /// No place: nothing outlives the process.
    case none
  }

  /// The settings.
  public let configuration: Configuration

  let store: RegistrationStore
  /// What happened.
  package let journal: Journal
  private let deliveries: StoredDeliveries
  // Locks are taken in this order: reports, isRestored, a host's state, the manager's state, what is settled, the
  // deliveries' state, the journal's waiters, the journal's state, the store's. Clients are called under none of them but
  // reports, and neither observers nor loggers are.
  private let state = Mutex(State())
  private let isRestored = Mutex(false)
  /// Held while the authorization is reported, so that no client receives an older status after a newer one.
  private let reports = Mutex(())

  private struct State {
    var clients: [ClientIdentifier: Client] = [:]
    var latestClient: UInt64 = 0
    var hosts: [any ServiceHosting] = []
    var status = AuthorizationStatus.notDetermined
    /// Whether the source of a service refuses the application, as a person or their agent decided.
    var isRefused = false
    /// The status that clients are sent: a refusal by a source denies the application, though its other services go on.
    var reported: AuthorizationStatus { isRefused && status.isAuthorized ? .denied : status }
    /// The status that each client was sent.
    var sent: [ClientIdentifier: AuthorizationStatus] = [:]
    /// What the application was given when it requested authorization.
    var granted: AuthorizationStatus?
    /// The number of the latest reading of what the system allows, and of the latest that counts.
    var (readings, latestReading) = (0, 0)
    /// When it was last read while a source ran, in nanoseconds of uptime.
    var latestCheck: UInt64 = 0
    var isWatching = false
    /// Ends the timer of the readings.
    var endWatch: (@Sendable () -> Void)?
  }

  /// Creates a manager.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    store = RegistrationStore(configuration)
    journal = Journal(store)
    deliveries = StoredDeliveries(store)
    journal.setDelivery { [weak self] event, pause in
      self?.deliveries.append([event], pause)
      self?.deliveries.send(to: event.group)
    } discard: { [weak self] in
      self?.discardStored($0)
    }
  }

  deinit {
    // Its next reading may be ten seconds away.
    state.withLock { $0.endWatch }?()
    deliveries.close()
    // What waits for a client keeps the client and its buffer.
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

  /// Whether the sources can be used: the best of them counts.
  public var availability: ScannerAvailability {
    let hosts = hosts
    let all = hosts.map(\.availability)
    let refusal = all.first { if case .notPermitted = $0 { true } else { false } }
    // Only where one source is refused do the others matter: what is known of them may be of long ago.
    if refusal != nil { for host in hosts { host.updateAvailability() } }
    if all.contains(.available) { return .available }
    return refusal ?? all.last ?? .unavailable("there is no service")
  }

  /// Stops every service for good, and waits until no radio receives. Registrations stay stored.
  public func stop() async {
    for host in hosts { await host.stop() }
  }

  /// Stops every service as ``stop()`` does, on a thread that may be blocked, and has everything that happened until then
  /// delivered and stored.
  package func stopAndWait() {
    for host in hosts { host.stopAndWait() }
    flush()
  }

  /// Writes what is to be stored, and closes the files, so that another manager may use them. The services were stopped
  /// before.
  ///
  /// - Returns: The reason why something could not be stored, as a sentence; `nil` where everything is.
  @discardableResult
  package func close() -> String? {
    flush()
    return store.database?.close()?.description
  }

  // MARK: Clients

  /// Adds a client that iterates over its events. A service has a view of it, such as ``BeaconClient``, by which it makes
  /// its requests.
  ///
  /// - Parameters:
  ///   - group: The group whose registrations it shares.
  ///   - isReceiving: Whether it can receive events now; see ``ServiceClient/setReceiving(_:)``.
  ///   - pacesRecordings: Whether a recording stands still until the client requests its next event.
  /// - Returns: The client, which stays until it is removed.
  public func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true
  ) -> ServiceClient {
    add(group, .buffer(EventBuffer()), isReceiving: isReceiving, pacesRecordings)
  }

  /// Adds a client whose events are passed to a function, which moves each to where the client lives, without
  /// waiting.
  package func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true,
    receive: @escaping @Sendable (ServiceDelivery) -> Void
  ) -> ServiceClient {
    add(group, .function(receive), isReceiving: isReceiving, true)
  }

  private func add(
    _ group: ClientGroup, _ sink: Client.Sink, isReceiving: Bool, _ pacesRecordings: Bool
  ) -> ServiceClient {
    restore()
    checkAuthorization()
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
    reportAuthorization()
    if isReceiving { setReceiving(true, for: client) }
    if startsWatch { watchAuthorization() }
    return ServiceClient(client, of: self)
  }

  /// Removes a client with all that it needed; registrations stay.
  package func removeClient(_ identifier: ClientIdentifier) {
    let client = state.withLock { state in
      state.sent[identifier] = nil
      return state.clients.removeValue(forKey: identifier)
    }
    // What it requests from now on is dropped, so that nothing of it is left after the services have removed it.
    client?.remove()
    // The demand ends before the source goes on.
    for host in hosts { host.remove(identifier) }
    guard let client else { return }
    client.buffer?.close()
    // Those that waited for it alone wait for another one.
    state.withLock { setReceivers(of: client.group, $0, hasArrival: true) }
    deliveries.send(to: client.group)
  }

  /// Sets whether a client can receive events; see ``ServiceClient/setReceiving(_:)``.
  func setReceiving(_ isReceiving: Bool, for client: Client) {
    state.withLock { state in
      client.isReceiving = isReceiving
      client.isReceivingStored = isReceiving
      setReceivers(of: client.group, state, hasArrival: isReceiving)
    }
    deliveries.send(to: client.group)
  }

  /// Informs the deliveries of a group of the clients that can receive.
  private func setReceivers(of group: ClientGroup, _ state: borrowing State, hasArrival: Bool) {
    let receivers = state.clients.values.filter { $0.group == group && $0.isReceivingStored }
    deliveries.setReceivers(receivers, of: group, hasArrival: hasArrival)
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

  // MARK: Stored events

  /// Sends the stored events again that waited because a client was slow.
  private func resume(_ identifier: ClientIdentifier) {
    if let client = client(identifier) { deliveries.resume(client) }
  }

  /// Drops the waiting events of a registration.
  private func discardStored(_ key: Store.Key) {
    let group = ClientGroup(key.group)
    deliveries.removeEvents(of: key)
    for client in clients({ $0.group == group }) { client.buffer?.discard { $0.key == key } }
  }

  /// Whether stored events wait for a client of a group.
  package func hasStoredEvents(in group: ClientGroup) -> Bool {
    deliveries.hasWaiting(in: group)
  }

  // MARK: Persistence

  /// Why nothing outlives the process though it should, as one sentence; `nil` where all is well. It waits until
  /// the database is made.
  public var storageFailure: String? { store.failure(waiting: true)?.description }

  /// Finds out why nothing outlives the process though it should, and whether the disk is the reason: full, read-only or
  /// broken.
  ///
  /// - Parameter isMade: Whether to wait until the database is made.
  /// - Returns: The sentence, and whether the disk is the reason; `nil` where all is well.
  package func storageFault(waiting isMade: Bool) -> (sentence: String, isOfDisk: Bool)? {
    store.failure(waiting: isMade).map { ($0.description, $0.isOfDisk) }
  }

  /// Has presence added to the history.
  package func addPresence(_ presence: [StoredPresence]) {
    if !presence.isEmpty { store.database?.write(presence.map { .addPresence($0) }) }
  }

  /// The number of events and of hours of presence that the history has lost.
  package var historyDropped: Int {
    (store.database?.droppedEntries ?? 0) + (store.database?.droppedPresence ?? 0)
  }

  /// Waits until everything that was registered is stored.
  public func flush() {
    for host in hosts { host.finishOutput() }
    journal.finish()
    store.database?.flush()
  }

  /// Restores what an earlier process stored, once. It reads, and waits for no sync.
  func restore() {
    // Diagnostics are logged here, outside of the lock.
    let authorization = store.authorization
    let restored = isRestored.withLock { isRestored -> Restored? in
      guard !isRestored else { return nil }
      isRestored = true
      state.withLock { $0.granted = $0.granted ?? authorization }
      return restore(hosts)
    }
    if let restored { finish(restored) }
  }

  /// Restores services, before a new event is delivered: a group's position must not pass the events of before.
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
    // What a version before 0.2 left for the clients is for the journal's readers.
    for event in restored.events.sorted(by: { $0.id < $1.id }) {
      journal.submit([
        .event(Journal.NewEvent(event: event.event, key: nil)),
        .call { [store] in store.database?.settle(group: event.key.group, through: event.id) },
      ])
    }
  }

  // MARK: Authorization

  /// What the application may do now. It is denied where the source of locations refuses the application; what needs no
  /// locations is delivered nevertheless.
  public var authorizationStatus: AuthorizationStatus {
    restore()
    return state.withLock { $0.reported }
  }

  /// What the authorization provider decides, without reading what was stored.
  var latestStatus: AuthorizationStatus { state.withLock { $0.status } }

  /// Requests authorization for the application.
  ///
  /// The answer is an ``AuthorizationEvent``. A request counts only while the status is not determined, but for the
  /// one step from when-in-use to always.
  public func requestAuthorization(_ wanted: AuthorizationStatus) {
    restore()
    let isGranted = state.withLock { state in
      let isRaise = state.granted == .authorizedWhenInUse && wanted == .authorizedAlways
      guard state.granted == nil || isRaise else { return false }
      state.granted = wanted
      return true
    }
    if isGranted { store.write([.setAuthorization(wanted.rawValue)]) }
    checkAuthorization()
  }

  /// Reads what the system allows, and reports a change to every client.
  public func checkAuthorization() {
    let reading = state.withLock { state in
      state.readings += 1
      return state.readings
    }
    let rule = configuration.authorization.rule(
      for: configuration.applicationIdentifier, scanner: availability)
    let hasChanged = state.withLock { state in
      // Another thread may have read it later, and be here before.
      guard reading > state.latestReading else { return false }
      state.latestReading = reading
      let previous = state.status
      state.status = rule.status(granted: state.granted)
      return state.status != previous
    }
    guard hasChanged else { return }
    // A client that receives the status may start what was refused before, and receives the status before the events
    // of what it had started.
    for host in hosts { host.updateAuthorization() }
    reportAuthorization()
    for host in hosts { host.resume() }
  }

  /// Records whether the source of a service refuses the application, and reports a change to every client.
  func setRefused(_ isRefused: Bool) {
    state.withLock { $0.isRefused = isRefused }
    reportAuthorization()
  }

  /// Reads what the system allows, if that was not done in the last two seconds. The thread of a radio calls this while it
  /// runs, so that no timer wakes the process for it.
  func checkAuthorizationIfDue() {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = state.withLock { state in
      guard now >= state.latestCheck + 2_000_000_000 else { return false }
      state.latestCheck = now
      return true
    }
    if isDue { checkAuthorization() }
  }

  /// Sends the status to the clients that were sent another one.
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

  /// Reads within every ten seconds what the system allows, as long as there are clients.
  private func watchAuthorization() {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    // With leeway it wakes the process together with another timer.
    timer.schedule(deadline: .now() + 8, repeating: 8, leeway: .seconds(2))
    timer.setEventHandler { [weak self] in
      let isWatching = self?.state.withLock { state in
        state.isWatching = !state.clients.isEmpty
        return state.isWatching
      }
      guard let self, isWatching == true else { return timer.cancel() }
      checkAuthorization()
      // Those that had no room for an earlier one.
      reportAuthorization()
    }
    // Any thread may cancel a source.
    nonisolated(unsafe) let source = timer
    state.withLock { $0.endWatch = { unsafe source.cancel() } }
    timer.activate()
  }
}
