import Dispatch
import FoundationEssentials
package import Scanning
import Storage
import Synchronization

protocol ServiceHosting: AnyObject, Sendable {
  /// Stops the source for good, then calls a function. A recording is not awaited.
  func stop(then done: @escaping @Sendable () -> Void)
  /// Ends a wait of the source. If the host was released, the source then rests.
  func wake()
  var availability: ScannerAvailability { get }
  func updateAvailability()
  func restore(from store: RegistrationStore) -> Restored
  /// Adopts the manager's authorization. A source that may now run waits for ``resume()``.
  func updateAuthorization()
  func resume()
  func remove(_ client: ClientIdentifier)
  /// Waits until earlier output has left the output queue.
  func finishOutput()
}

/// The stored events of an earlier process, and sentences about values that cannot be read.
struct Restored {
  var events: [StoredEvent] = []
  var failures: [String] = []
}

/// Runs one service: its requests, its input from a source, and its output on a queue.
///
/// The state machine runs under a lock. Its output is delivered outside it, in order: stored events
/// by the manager's ``Journal``, others by the output queue. In a recording, time stops meanwhile.
package final class ServiceHost<S: Service>: ServiceHosting {
  package typealias Source = any Scanning.Source<S.Input, S.Demand, S.Health>

  let shared: SharedSource<S>?

  private weak let manager: ServiceManager?
  private let store: RegistrationStore
  private let state: Mutex<State>
  private let journal: Journal
  private let output = DispatchQueue(label: "ServiceCore.\(S.name).output")
  private let inFlight = DispatchGroup()

  private struct State {
    var service: S
    /// Whether the source delivers to the service, or will soon.
    var isRunning = false
    /// The input of a recording that was left when the demand ended.
    var rest: ServiceInput<S>?
    /// Whether the source must not deliver, whatever the demand.
    var isStopped = false
    var end: String?
    var failure: (any Error)?
  }

  package convenience init(_ service: S, source: Source?, manager: ServiceManager) {
    self.init(service, sharing: source.map { SharedSource($0) }, manager: manager)
  }

  package init(_ service: S, sharing shared: SharedSource<S>?, manager: ServiceManager) {
    self.shared = shared
    self.manager = manager
    store = manager.store
    journal = manager.journal
    state = Mutex(State(service: service))
    shared?.add(self)
    manager.add(self)
  }

  deinit { shared?.wake() }

  func wake() { shared?.wake() }

  private var source: Source? { shared?.source }

  private var pace: DispatchGroup? { isRecorded ? inFlight : nil }

  /// Whether time stops while clients process events.
  var isRecorded: Bool { source?.isRecorded ?? false }

  package var availability: ScannerAvailability {
    if let end { return .unavailable(end) }
    guard let source else { return .unavailable("there is no source") }
    if S.asksForAvailability || isRecorded { return source.availability }
    // Otherwise the authorization would alternate: without demand, nothing would notice that the
    // daemon permits the application again.
    if case .notPermitted(let sentence) = latestAvailability { return .unavailable(sentence) }
    return latestAvailability
  }

  /// The reason why no request can succeed, or `nil`. A live source may become available later.
  var unavailability: String? {
    if let source, !source.isRecorded { return end }
    guard case .unavailable(let reason) = availability else { return nil }
    return reason
  }

  /// The last known availability, without waiting. Unknown counts as available.
  package var latestAvailability: ScannerAvailability { shared?.latestAvailability ?? .available }

  /// Checks the availability of a source that rests, on its thread, at most twice a minute.
  package func updateAvailability() {
    guard end == nil else { return }
    shared?.updateAvailability { [weak manager] in manager?.checkAuthorization() }
  }

  package var end: String? { state.withLock { $0.end } }
  package var failure: (any Error)? { state.withLock { $0.failure } }

  package func afterOutput(_ body: @escaping @Sendable () -> Void) {
    // Without a database, all output has one order.
    if store.isPersistent {
      output.async(execute: body)
    } else {
      journal.submit([.call(body)])
    }
  }

  func finishOutput() { output.sync {} }

  func stop(then done: @escaping @Sendable () -> Void) {
    state.withLock { $0.isStopped = true }
    guard let shared, !isRecorded else { return done() }
    shared.afterTurn(done)
  }

  /// Waits until clients have processed everything that a recording delivered.
  func deliveriesFinished() async {
    await withCheckedContinuation { continuation in
      output.async { [inFlight, output, journal] in
        journal.submit([
          .call { inFlight.notify(queue: output) { continuation.resume() } }
        ])
      }
    }
  }

  package func read<Result: Sendable>(_ body: (inout S) -> Result) -> Result {
    state.withLock { body(&$0.service) }
  }

  /// Changes clients' requests. A body that throws must not have changed anything.
  package func update<Result: Sendable, Failure>(
    _ body: (inout S, inout ServiceOutput<S>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let (result, starts) = try state.withLock { state throws(Failure) in
      var items = ServiceOutput<S>()
      let result = try body(&state.service, &items)
      // Under the lock, the output only takes its place.
      enqueue(items)
      return (result, start(&state))
    }
    if starts { shared?.run() } else { shared?.wake() }
    return result
  }

  /// Changes a client's requests. Returns `nil` if it was removed, because nothing would end them.
  @discardableResult
  func update<Result: Sendable, Failure>(
    for client: ServiceClient,
    _ body: (inout S, inout ServiceOutput<S>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try update { service, output throws(Failure) in
      // This is under the lock, which a removal takes after it has set `isRemoved`.
      client.client.isRemoved ? nil : try body(&service, &output)
    }
  }

  func updateAuthorization() {
    // The status is read under the lock, so the last of two threads has the latest one.
    state.withLock { state in
      var items = ServiceOutput<S>()
      if let manager { state.service.setAuthorization(manager.latestStatus, into: &items) }
      enqueue(items)
    }
    shared?.wake()
  }

  func resume() { update { _, _ in } }

  func remove(_ client: ClientIdentifier) {
    update { service, _ in service.remove(client) }
  }

  // MARK: The source

  private func start(_ state: inout State) -> Bool {
    guard !state.isRunning, !state.isStopped, shared != nil, state.end == nil else { return false }
    state.isRunning = state.service.demand != nil
    return state.isRunning
  }

  /// Waits until clients have processed a recording, or checks their authorization.
  func awaitClients() {
    if isRecorded { inFlight.wait() } else { manager?.checkAuthorizationIfDue() }
  }

  /// Returns the demand for the source now; `nil` if the service needs nothing.
  func turn() -> ServiceDemand<S.Demand>? {
    let (demand, hasStopped) = state.withLock { state -> (ServiceDemand<S.Demand>?, Bool) in
      guard state.isRunning else { return (nil, false) }
      if state.end == nil, !state.isStopped, let demand = state.service.demand {
        return (demand, false)
      }
      state.isRunning = false
      // A radio's time continues while it rests; a recording's does not.
      if !isRecorded { state.service.rest() }
      return (nil, true)
    }
    if hasStopped { watchFault() }
    return demand
  }

  /// Whether input of a recording is left from before the demand ended.
  var hasRest: Bool { state.withLock { $0.rest != nil } }

  func processRest() {
    if let rest = state.withLock({ $0.rest.take() }) { process(rest) }
  }

  /// Watches a resting source with a fault, because an application may wait for its end.
  private func watchFault() {
    guard !isRecorded, let manager, state.withLock({ $0.service.hasToldFault }) else { return }
    shared?.checkAvailability(after: manager.configuration.secondsBetweenLooks) {
      [weak self] availability in
      guard let self, let source,
        state.withLock({ !$0.isRunning && !$0.isStopped && $0.service.hasToldFault })
      else { return }
      guard availability ?? latestAvailability == .available else { return watchFault() }
      state.withLock { state in
        var items = ServiceOutput<S>()
        state.service.recovered(source.name, into: &items)
        enqueue(items)
      }
      self.manager?.checkAuthorization()
    }
  }

  /// Processes input. In a recording, clients process each event first.
  func process(_ received: consuming ServiceInput<S>) {
    var input = received
    var isDone = false
    while !isDone {
      isDone = state.withLock { state in
        if isRecorded, state.isStopped || state.service.demand == nil {
          state.rest = input
          return true
        }
        var items = ServiceOutput<S>()
        let isDone = state.service.process(&input, into: &items)
        enqueue(items)
        return isDone
      }
      if isRecorded {
        finishOutput()
        journal.finish()
        inFlight.wait()
      }
    }
  }

  /// Ends the service with a sentence for people, and the failure if there was one.
  func end(_ sentence: String, _ failure: (any Error)?) {
    state.withLock { state in
      // A recording with input that is not processed has not ended.
      guard state.rest == nil, state.end == nil else { return }
      state.end = sentence
      state.failure = failure
      var items = ServiceOutput<S>()
      state.service.end(sentence, isFailure: failure != nil, into: &items)
      enqueue(items, isEnd: true)
    }
    if isRecorded {
      finishOutput()
      journal.finish()
    }
  }

  // MARK: The output

  /// Adds output to the queues. Events follow the changes of their client's group, and the end
  /// follows all that is being stored.
  private func enqueue(_ items: ServiceOutput<S>, isEnd: Bool = false) {
    guard let manager, !items.items.isEmpty else { return }
    // A client that begins to receive later does not receive earlier events.
    lazy var everyone = manager.clients { $0.isReceiving }
    var direct: [@Sendable () -> Void] = []
    var stored: [Journal.Item] = []
    var groups: Set<ClientGroup> = []
    for item in items.items {
      switch item {
      case .event(let event, let recipients):
        let clients: [Client] =
          switch recipients {
          case .client(let client): manager.client(client).map { [$0] } ?? []
          case .some(let clients, let groups):
            everyone.filter { clients.contains($0.identifier) || groups.contains($0.group) }
          case .all: everyone
          }
        let waits = isEnd || !store.isPersistent
        let waiting = clients.filter { waits || groups.contains($0.group) }
        let others = clients.filter { !waits && !groups.contains($0.group) }
        if !others.isEmpty {
          direct.append { [self] in deliver(event, to: others, isEnd: false) }
        }
        if !waiting.isEmpty {
          stored.append(.call { [self] in deliver(event, to: waiting, isEnd: isEnd) })
        }
      case .register(let registration, let group, let identifier, let value):
        groups.insert(group)
        stored.append(.register(key(group, identifier), registration, state: value))
      case .unregister(let group, let identifier):
        groups.insert(group)
        stored.append(.unregister(key(group, identifier)))
      case .stored(let event, let group, let identifier, let value):
        groups.insert(group)
        stored.append(
          .event(
            Journal.NewEvent(
              event: event, key: key(group, identifier), state: value, pace: pace,
              pause: pace.map(DeliveryPause.init))))
      case .refusal(let isRefused):
        let report = { @Sendable [manager] in manager.setRefused(isRefused) }
        if store.isPersistent { direct.append(report) } else { stored.append(.call(report)) }
      }
    }
    journal.submit(stored)
    guard !direct.isEmpty else { return }
    output.async { [direct] in
      for body in direct { body() }
    }
  }

  private func deliver(_ event: S.Event, to clients: [Client], isEnd: Bool) {
    // A client that was removed meanwhile receives nothing.
    for client in clients
    where manager?.client(client.identifier) != nil && client.isReceiving
      && (isEnd || client.admits(isReplaceable: event.isReplaceable, isRecorded: isRecorded))
    {
      client.send(event, pace: pace)
    }
  }

  // MARK: Restoring

  func restore(from store: RegistrationStore) -> Restored {
    guard let database = store.database else { return Restored() }
    var restored = Restored()
    let registrations = database.registrations.compactMap { stored -> StoredRegistration<S>? in
      guard stored.key.service == S.name,
        let registration = decode(S.Registration.self, stored.definition, &restored.failures)
      else { return nil }
      return StoredRegistration(
        group: ClientGroup(stored.key.group), identifier: stored.key.identifier,
        registration: registration,
        state: stored.state.flatMap { decode(S.RegistrationState.self, $0, &restored.failures) })
    }
    state.withLock { $0.service.restore(registrations) }
    shared?.wake()
    for stored in database.undelivered {
      guard let recipients = stored.recipients, recipients.service == S.name,
        let event = decode(S.Event.self, stored.payload, &restored.failures)
      else { continue }
      restored.events.append(
        StoredEvent(
          event: event, id: stored.id,
          key: key(ClientGroup(recipients.group), stored.region ?? ""), pace: pace))
    }
    return restored
  }

  private func key(_ group: ClientGroup, _ identifier: String) -> Store.Key {
    Store.Key(service: S.name, group: group.name, identifier: identifier)
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: [UInt8], _ failures: inout [String]
  ) -> Value? {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      failures.append("\(S.name): a stored value cannot be read and is left out: \(error)")
      return nil
    }
  }
}
