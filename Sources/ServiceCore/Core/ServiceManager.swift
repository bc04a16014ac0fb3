import DequeModule
import Dispatch
public import Logging
public import Scanning
import Storage
import Synchronization

/// The shared manager of a process's services: the clients, the application's authorization, and what
/// outlives the process.
///
/// ```swift
/// let manager = ServiceManager()
/// let beacons = BeaconService(manager, scanner: HCIScanner())
/// let client = manager.addClient()
/// manager.requestAuthorization(.authorizedAlways)
/// try beacons.startRanging(RangingRequest(BeaconConstraint(uuid: uuid)), for: client)
/// for try await event in beacons.events(for: client) {
///   if case .ranging(let report) = event { print(report.beacons) }
/// }
/// ```
///
/// The manager knows no kind of service. ``BeaconService`` is the first one.
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
  private let state = Mutex(State())
  private let isRestored = Mutex(false)

  private struct State {
    var clients: [ClientIdentifier: Client] = [:]
    var latestClient: UInt64 = 0
    var hosts: [any ServiceHosting] = []
    /// Stored events for which there was no client: at most ``maximumUndelivered``, then the oldest go.
    var undelivered = Deque<StoredEvent>()
    var status = AuthorizationStatus.notDetermined
    /// What the application was given when it requested authorization.
    var granted: AuthorizationStatus?
    var isWatching = false
  }

  /// The maximum number of stored events that wait for a client.
  static let maximumUndelivered = 16384

  /// Creates a manager.
  ///
  /// - Parameter configuration: The settings.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    store = RegistrationStore(configuration)
  }

  deinit {
    // Deliveries that wait in a client's buffer keep the client, and with it the buffer.
    for sink in state.withLock({ $0.clients.values.map(\.sink) }) {
      if case .buffer(let buffer) = sink { buffer.close() }
    }
  }

  // MARK: Services

  func add(_ host: any ServiceHosting) {
    let isLate = isRestored.withLock { isRestored in
      state.withLock { $0.hosts.append(host) }
      if isRestored { restore([host]) }
      return isRestored
    }
    if isLate { host.setAuthorization(state.withLock { $0.status }) }
  }

  /// Whether the sources can be used: the best of them counts.
  public var availability: ScannerAvailability {
    var latest = ScannerAvailability.unavailable("there is no service")
    for host in state.withLock({ $0.hosts }) {
      switch (host.availability, latest) {
      case (.available, _): return .available
      case (.notPermitted(let sentence), _): latest = .notPermitted(sentence)
      case (.unavailable(let sentence), .unavailable): latest = .unavailable(sentence)
      case (.unavailable, _): break
      }
    }
    return latest
  }

  /// Stops every service for good, and waits until no radio receives. Registrations stay stored.
  public func stop() async {
    for host in state.withLock({ $0.hosts }) { await host.stop() }
  }

  // MARK: Clients

  /// Adds a client that iterates over its events, such as by `BeaconService.events(for:)`.
  ///
  /// - Parameters:
  ///   - group: The group whose registrations it shares.
  ///   - isReceiving: Whether it can receive events now; see ``setReceiving(_:for:)``.
  ///   - pacesRecordings: Whether a recording stands still until the client requests its next event.
  /// - Returns: The client's identifier.
  public func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true
  ) -> ClientIdentifier {
    add(group, .buffer(EventBuffer()), isReceiving: isReceiving, pacesRecordings)
  }

  /// Adds a client whose events are passed to a function.
  ///
  /// - Parameters:
  ///   - group: The group whose registrations it shares.
  ///   - isReceiving: Whether it can receive events now; see ``setReceiving(_:for:)``.
  ///   - receive: Receives a delivery, without waiting: it moves it to where the client lives.
  /// - Returns: The client's identifier.
  package func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true,
    receive: @escaping @Sendable (ServiceDelivery) -> Void
  ) -> ClientIdentifier {
    add(group, .function(receive), isReceiving: isReceiving, true)
  }

  private func add(
    _ group: ClientGroup, _ sink: Client.Sink, isReceiving: Bool, _ pacesRecordings: Bool
  ) -> ClientIdentifier {
    restore()
    checkAuthorization()
    let client = state.withLock { state in
      state.latestClient += 1
      let client = Client(
        ClientIdentifier(rawValue: state.latestClient), in: group, sink: sink,
        isReceiving: isReceiving, pacesRecordings: pacesRecordings,
        resume: { [weak self] in self?.deliverStored(to: group) })
      state.clients[client.identifier] = client
      return client
    }
    client.send(
      ServiceDelivery(
        AuthorizationEvent(status: authorizationStatus), to: client, record: nil, pace: nil))
    if isReceiving { deliverStored(to: group) }
    watchAuthorization()
    return client.identifier
  }

  /// Removes a client with all that it needed; registrations stay.
  public func removeClient(_ identifier: ClientIdentifier) {
    let (client, hosts) = state.withLock { state in
      (state.clients.removeValue(forKey: identifier), state.hosts)
    }
    // The demand ends before the source goes on.
    for host in hosts { host.remove(identifier) }
    if case .buffer(let buffer)? = client?.sink { buffer.close() }
  }

  /// Sets whether a client can receive events, such as whether it has a delegate. One that can is given the
  /// stored events that waited.
  public func setReceiving(_ isReceiving: Bool, for identifier: ClientIdentifier) {
    guard let client = client(identifier) else { return }
    client.isReceiving = isReceiving
    if isReceiving { deliverStored(to: client.group) }
  }

  /// Drops the waiting events of a client that a rule names.
  package func discardEvents(
    of identifier: ClientIdentifier, where isDropped: (any ServiceEvent) -> Bool
  ) {
    if case .buffer(let buffer)? = client(identifier)?.sink {
      buffer.discard { isDropped($0.event) }
    }
  }

  /// Sends a client an event that comes from no service.
  package func send(_ event: some ServiceEvent, to identifier: ClientIdentifier) {
    guard let client = client(identifier) else { return }
    client.send(ServiceDelivery(event, to: client, record: nil, pace: nil))
  }

  /// Returns the next delivery to a client that iterates, of whatever kind; `nil` when the client was removed
  /// or the task is canceled.
  package func nextDelivery(to identifier: ClientIdentifier) async -> ServiceDelivery? {
    guard case .buffer(let buffer)? = client(identifier)?.sink else { return nil }
    return await buffer.next()
  }

  func client(_ identifier: ClientIdentifier) -> Client? {
    state.withLock { $0.clients[identifier] }
  }

  func group(of identifier: ClientIdentifier) -> ClientGroup? { client(identifier)?.group }

  func clients(_ recipients: (Client) -> Bool) -> [Client] {
    state.withLock { state in
      state.clients.values.filter(recipients).sorted {
        $0.identifier.rawValue < $1.identifier.rawValue
      }
    }
  }

  func events<Event: ServiceEvent>(
    of identifier: ClientIdentifier, isLast: @escaping @Sendable (Event) throws -> Bool
  ) -> ClientEvents<Event> {
    guard case .buffer(let buffer)? = client(identifier)?.sink else {
      return ClientEvents(buffer: nil, isLast: isLast)
    }
    return ClientEvents(buffer: buffer, isLast: isLast)
  }

  /// The changes of the application's authorization, beginning with the status at the client's start.
  public func authorizationEvents(
    for client: ClientIdentifier
  ) -> ClientEvents<AuthorizationEvent> {
    events(of: client) { _ in false }
  }

  // MARK: Stored events

  /// Delivers a stored event to the clients of its group that can receive it, or keeps it for one.
  func deliver(_ event: StoredEvent, pace: DispatchGroup?) {
    let isRecorded = pace != nil
    let receivers = clients { $0.group == event.group && $0.isReceiving }
    let clients = receivers.filter { $0.admitsStored(isRecorded: isRecorded) }
    guard !clients.isEmpty else {
      keep(event)
      for client in receivers { client.overflow() }
      // One may have begun to receive meanwhile.
      if receivers.isEmpty, !self.clients({ $0.group == event.group && $0.isReceiving }).isEmpty {
        deliverStored(to: event.group)
      }
      return
    }
    let record = StoredDelivery(event, to: clients.count) { [weak self, store] wasDelivered in
      if !wasDelivered {
        self?.keep(event)
      } else if let serial = event.serial {
        store.markDelivered(serial)
      }
    }
    for client in clients {
      client.send(ServiceDelivery(event.event, to: client, record: record, pace: pace))
    }
  }

  private func keep(_ event: StoredEvent) {
    state.withLock { state in
      if state.undelivered.count >= Self.maximumUndelivered { state.undelivered.removeFirst() }
      // One that comes back goes before the later ones.
      let previous = state.undelivered.lastIndex { $0.serial ?? 0 <= event.serial ?? .max }
      state.undelivered.insert(event, at: previous.map { $0 + 1 } ?? 0)
    }
  }

  private func deliverStored(to group: ClientGroup) {
    let events = state.withLock { state in
      let events = state.undelivered.filter { $0.group == group }
      state.undelivered.removeAll { $0.group == group }
      return events
    }
    for client in clients({ $0.group == group }) { client.endOverflow() }
    let hosts = state.withLock { $0.hosts }
    for event in events {
      // A recording waits for these too.
      deliver(event, pace: hosts.first { $0.name == event.service }?.pace)
    }
  }

  /// Drops the waiting events of a registration.
  func discardStored(_ service: String, _ group: ClientGroup, _ identifier: String) {
    state.withLock { state in
      state.undelivered.removeAll { $0.belongs(to: service, group, identifier) }
    }
    for client in clients({ $0.group == group }) {
      guard case .buffer(let buffer) = client.sink else { continue }
      buffer.discard { $0.stored?.belongs(to: service, group, identifier) ?? false }
    }
  }

  /// Whether stored events wait for a client of a group.
  package func hasStoredEvents(in group: ClientGroup) -> Bool {
    state.withLock { state in state.undelivered.contains { $0.group == group } }
  }

  // MARK: Persistence

  /// Why nothing outlives the process though it should, as one sentence; `nil` where all is well.
  public var storageFailure: String? { store.failure }

  /// Waits until everything that was registered is stored.
  public func flush() {
    for host in state.withLock({ $0.hosts }) { host.finishOutput() }
    store.flush()
  }

  /// Restores what an earlier process stored, once.
  func restore() {
    // Other callers wait meanwhile until it is done.
    isRestored.withLock { isRestored in
      guard !isRestored else { return }
      isRestored = true
      let granted = store.authorization
      state.withLock { $0.granted = $0.granted ?? granted }
      restore(state.withLock { $0.hosts })
    }
  }

  private func restore(_ hosts: [any ServiceHosting]) {
    for event in hosts.flatMap({ $0.restore(from: store) }) { keep(event) }
  }

  // MARK: Authorization

  /// What the application may do now.
  public var authorizationStatus: AuthorizationStatus {
    restore()
    return state.withLock { $0.status }
  }

  /// Requests authorization for the application.
  ///
  /// The answer is an ``AuthorizationEvent``. A request counts only while the status is not determined, but
  /// for the one step from when-in-use to always.
  public func requestAuthorization(_ wanted: AuthorizationStatus) {
    restore()
    let isGranted = state.withLock { state in
      let isRaise = state.granted == .authorizedWhenInUse && wanted == .authorizedAlways
      guard state.granted == nil || isRaise else { return false }
      state.granted = wanted
      return true
    }
    if isGranted { store.setAuthorization(wanted) }
    checkAuthorization()
  }

  /// Reads what the system allows, and reports a change to every client.
  public func checkAuthorization() {
    let rule = configuration.authorization.rule(
      for: configuration.applicationIdentifier, scanner: availability)
    let change = state.withLock { state -> (AuthorizationStatus, [any ServiceHosting])? in
      let status = rule.status(granted: state.granted)
      guard status != state.status else { return nil }
      state.status = status
      return (status, state.hosts)
    }
    guard let (status, hosts) = change else { return }
    for client in clients({ _ in true }) {
      client.send(
        ServiceDelivery(AuthorizationEvent(status: status), to: client, record: nil, pace: nil))
    }
    for host in hosts { host.setAuthorization(status) }
  }

  /// Reads every two seconds what the system allows, as long as there are clients.
  private func watchAuthorization() {
    let starts = state.withLock { state in
      defer { state.isWatching = true }
      return !state.isWatching
    }
    if starts { scheduleWatch() }
  }

  private func scheduleWatch() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 2) { [weak self] in
      guard let self else { return }
      let isWatching = self.state.withLock { state in
        state.isWatching = !state.clients.isEmpty
        return state.isWatching
      }
      guard isWatching else { return }
      self.checkAuthorization()
      self.scheduleWatch()
    }
  }
}
