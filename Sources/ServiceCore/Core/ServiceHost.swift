import Dispatch
import FoundationEssentials
import Logging
package import Scanning
import Storage
import Synchronization

/// A service, as its manager knows it.
protocol ServiceHosting: AnyObject, Sendable {
  var name: String { get }
  func stop() async
  /// As ``stop()``, on a thread that may be blocked.
  func stopAndWait()
  /// Ends a wait of the source: one that nobody holds any more then rests.
  func wake()
  var availability: ScannerAvailability { get }
  func updateAvailability()
  func restore(from store: RegistrationStore) -> Restored
  /// Sets the service's authorization to the manager's. A source that may now run waits for ``resume()``.
  func updateAuthorization()
  func resume()
  func remove(_ client: ClientIdentifier)
  /// Waits until what was put out before is on its way to the store.
  func finishOutput()
}

/// The events that an earlier process stored, and what could not be read.
struct Restored {
  var events: [StoredEvent] = []
  var failures: [String] = []
}

/// Runs one service: its source on a thread of its own, its output on a queue.
///
/// The state machine runs under a lock. What comes of it is delivered outside of the lock, in order: what is stored by
/// the manager's ``Journal``, when it is written, and the rest by the output queue, which does not wait for that. In a
/// recording time stands still meanwhile, so that a replay is always the same.
package final class ServiceHost<S: Service>: ServiceHosting {
  package typealias Source = any Scanning.Source<S.Input, S.Demand, S.Health>

  let source: Source?

  private weak let manager: ServiceManager?
  private let store: RegistrationStore
  private let state: Mutex<State>
  private let journal: Journal
  private let receiver = DispatchQueue(label: "ServiceCore.\(S.name).receiver")
  private let output = DispatchQueue(label: "ServiceCore.\(S.name).output")
  /// The deliveries for which a recording waits.
  private let inFlight = DispatchGroup()

  private struct State {
    var service: S
    /// Whether the source is running, or will be soon.
    var isRunning = false
    /// The input of a recording that is left, because there was no demand any more.
    var rest: ServiceInput<S>?
    /// Whether the source rests whatever the demand.
    var isStopped = false
    /// Why the source will never deliver any more.
    var end: String?
    var failure: (any Error)?
    /// When it may be found out again whether the source can be used, in nanoseconds of uptime.
    var nextAvailability: UInt64 = 0
    /// Whether the source can be used, as its latest state or ``updateAvailability()`` showed.
    var availability: ScannerAvailability?
    /// Whether the manager was informed that the source refuses the application.
    var isRefused = false
  }

  package init(_ service: S, source: Source?, manager: ServiceManager) {
    self.source = source
    self.manager = manager
    store = manager.store
    journal = manager.journal
    state = Mutex(State(service: service))
    manager.add(self)
  }

  deinit { source?.rest() }

  func wake() { source?.wake() }

  var name: String { S.name }
  private var pace: DispatchGroup? { isRecorded ? inFlight : nil }

  /// Whether time stands still while clients deal with events.
  var isRecorded: Bool { source?.isRecorded ?? false }

  /// Whether the source can be used now.
  package var availability: ScannerAvailability {
    if let end { return .unavailable(end) }
    guard let source else { return .unavailable("there is no source") }
    if S.asksForAvailability || isRecorded { return source.availability }
    // A daemon that refuses the application restricts no other service: without demand nothing would find out that it
    // permits it again, and the authorization would come and go.
    if case .notPermitted(let sentence) = latestAvailability { return .unavailable(sentence) }
    return latestAvailability
  }

  /// Whether the source can be used, as far as is known: nothing is waited for. What is not known yet is available.
  package var latestAvailability: ScannerAvailability {
    if isRecorded, let source { return source.availability }
    return state.withLock { $0.availability } ?? .available
  }

  /// Has the thread of the source find out whether it can be used, twice a minute at most. While it receives, its states
  /// show that.
  package func updateAvailability() {
    let isDue = state.withLock { state in
      let now = DispatchTime.now().uptimeNanoseconds
      guard !state.isRunning, !state.isStopped, state.end == nil, now >= state.nextAvailability
      else { return false }
      state.nextAvailability = now + 30_000_000_000
      return true
    }
    guard isDue, !isRecorded else { return }
    receiver.async { [weak self] in
      guard let self, let source = self.source else { return }
      let found = source.availability
      let isNew = self.state.withLock { state in
        defer { state.availability = found }
        return found != state.availability ?? .available
      }
      if isNew { manager?.checkAuthorization() }
    }
  }

  /// Why the source will never deliver any more, for people.
  package var end: String? { state.withLock { $0.end } }
  /// The error with which the source ended.
  package var failure: (any Error)? { state.withLock { $0.failure } }

  /// Calls a function when what was put out before is on its way.
  package func afterOutput(_ body: @escaping @Sendable () -> Void) {
    // Where nothing waits for a disk, everything has one order.
    if store.isPersistent {
      output.async(execute: body)
    } else {
      journal.submit([.call(body)])
    }
  }

  func finishOutput() { output.sync {} }

  /// Has the source rest for good, and waits until it does. A recording is not waited for: it may stand still for a
  /// client.
  func stop() async {
    state.withLock { $0.isStopped = true }
    guard !isRecorded else { return }
    source?.wake()
    await withCheckedContinuation { continuation in
      receiver.async { [source] in
        source?.rest()
        continuation.resume()
      }
    }
  }

  func stopAndWait() {
    state.withLock { $0.isStopped = true }
    guard !isRecorded else { return }
    source?.wake()
    receiver.sync { source?.rest() }
  }

  /// Waits until clients have dealt with everything that was delivered, where a recording is the source.
  func deliveriesFinished() async {
    await withCheckedContinuation { continuation in
      output.async { [inFlight, output, journal] in
        journal.submit([
          .call { inFlight.notify(queue: output) { continuation.resume() } }
        ])
      }
    }
  }

  /// Reads the service's state.
  package func read<Result: Sendable>(_ body: (inout S) -> Result) -> Result {
    state.withLock { body(&$0.service) }
  }

  /// Changes what clients need; what comes of it is stored and delivered soon.
  package func update<Result: Sendable>(_ body: (inout S, inout ServiceOutput<S>) -> Result)
    -> Result
  {
    let (result, starts) = state.withLock { state in
      var items = ServiceOutput<S>()
      let result = body(&state.service, &items)
      // Under the lock, the output only takes its place.
      enqueue(items)
      return (result, start(&state))
    }
    if starts { run() } else { source?.wake() }
    return result
  }

  /// Changes what a client needs, unless it was removed: nothing would end its demand. Returns `nil` where it was.
  func update<Result: Sendable>(
    for client: ServiceClient, _ body: (inout S, inout ServiceOutput<S>) -> Result
  ) -> Result? {
    update { service, output in
      // Under the lock: who removes the client comes by here once more.
      client.client.isRemoved ? nil : body(&service, &output)
    }
  }

  func updateAuthorization() {
    // Read under the lock: of two threads, the one that comes last has the latest.
    state.withLock { state in
      var items = ServiceOutput<S>()
      if let manager { state.service.setAuthorization(manager.latestStatus, into: &items) }
      enqueue(items)
    }
    source?.wake()
  }

  func resume() { update { _, _ in } }

  func remove(_ client: ClientIdentifier) {
    update { service, _ in service.remove(client) }
  }

  // MARK: The source

  private func start(_ state: inout State) -> Bool {
    guard !state.isRunning, !state.isStopped, source != nil, state.end == nil else { return false }
    state.isRunning = state.service.demand != nil
    return state.isRunning
  }

  private func run() {
    // The source's thread does not keep the service: releasing the service ends it.
    receiver.async { [weak self] in
      var used: [S.Input] = []
      while let self, self.step(&used) {}
    }
  }

  /// Receives once, processes what came, and returns whether there is demand for more.
  private func step(_ used: inout [S.Input]) -> Bool {
    guard let source else { return false }
    if isRecorded { inFlight.wait() } else { manager?.checkAuthorizationIfDue() }
    let (demand, rest) = state.withLock { state -> (ServiceDemand<S.Demand>?, ServiceInput<S>?) in
      guard state.end == nil, !state.isStopped, let demand = state.service.demand else {
        state.isRunning = false
        // A radio's time goes on while it rests; a recording's does not.
        if !isRecorded { state.service.rest() }
        return (nil, nil)
      }
      defer { state.rest = nil }
      return (demand, state.rest)
    }
    guard let demand else {
      source.rest()
      watchFault()
      return false
    }
    do {
      let received = try rest ?? receive(from: source, demand, into: used)
      let isOver = received.progress.isOver
      used = process(received)
      if isOver { end(with: nil) }
    } catch {
      end(with: error)
    }
    return true
  }

  /// Finds out when a source that rests with a fault can be used again: an application may have stopped its services because
  /// of it, and wait for the news.
  private func watchFault() {
    guard !isRecorded, let manager, state.withLock({ $0.service.hasToldFault }) else { return }
    receiver.asyncAfter(deadline: .now() + manager.configuration.secondsBetweenLooks) {
      [weak self] in
      guard let self, let source,
        state.withLock({ !$0.isRunning && !$0.isStopped && $0.service.hasToldFault })
      else { return }
      guard source.availability == .available else { return watchFault() }
      state.withLock { state in
        var items = ServiceOutput<S>()
        state.service.recovered(source.name, into: &items)
        enqueue(items)
      }
      self.manager?.checkAuthorization()
    }
  }

  /// Receives once, into the memory of an array that was processed.
  private func receive(
    from source: Source, _ demand: ServiceDemand<S.Demand>, into used: consuming [S.Input]
  ) throws -> ServiceInput<S> {
    var values = used
    let progress = try source.receive(for: demand.demand, until: demand.deadline, into: &values)
    if let availability = progress.health.last(where: S.concernsAvailability)?.availability {
      state.withLock { $0.availability = availability }
    }
    return ServiceInput(
      values: values, progress: progress, reportsOnlyChanges: source.reportsOnlyChanges,
      demand: demand.demand)
  }

  /// Processes input, and returns its memory. In a recording, clients deal with each event before more is processed.
  private func process(_ received: consuming ServiceInput<S>) -> [S.Input] {
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
        if state.isRefused != state.service.isRefusedBySource {
          state.isRefused.toggle()
          // Clients receive the status before the events that follow from it.
          afterOutput { [manager, isRefused = state.isRefused] in manager?.setRefused(isRefused) }
        }
        enqueue(items)
        return isDone
      }
      if isRecorded {
        finishOutput()
        journal.finish()
        inFlight.wait()
      }
    }
    return input.values
  }

  private func end(with error: (any Error)?) {
    let name = source?.name ?? ""
    state.withLock { state in
      // A recording whose rest is still to be processed is not at its end.
      guard state.rest == nil, state.end == nil else { return }
      let sentence =
        error.map { "\(name): \($0)" } ?? "\(name) is at its end; start again to replay it"
      (state.end, state.failure) = (sentence, error)
      var items = ServiceOutput<S>()
      state.service.end(sentence, isFailure: error != nil, into: &items)
      enqueue(items, isEnd: true)
    }
    if isRecorded {
      finishOutput()
      journal.finish()
    }
  }

  // MARK: The output

  /// Puts what the state machine wants on its way. Under the lock, it only takes its place. What comes with a change of
  /// the client's group follows it; the end comes after everything that is being stored, and to every client, however
  /// slow.
  private func enqueue(_ items: ServiceOutput<S>, isEnd: Bool = false) {
    guard let manager, !items.items.isEmpty else { return }
    // A client that begins to receive later does not receive what happened before.
    let everyone = items.needsEveryone ? manager.clients { $0.isReceiving } : []
    var direct: [(event: S.Event, clients: [Client])] = []
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
        if !others.isEmpty { direct.append((event, others)) }
        if !waiting.isEmpty {
          stored.append(.call { [self] in deliver(event, to: waiting, isEnd: isEnd) })
        }
      case .register(let registration, let group, let identifier, let value):
        groups.insert(group)
        stored.append(
          .register(key(group, identifier), registration, state: value) { [self] in
            encode(registration).map { ($0, value.flatMap { encode($0) }) }
          })
      case .unregister(let group, let identifier):
        groups.insert(group)
        stored.append(.unregister(key(group, identifier)))
      case .stored(let event, let group, let identifier, let value):
        groups.insert(group)
        stored.append(
          .event(
            Journal.NewEvent(
              event: event, key: key(group, identifier),
              encodeState: { [self] in value.flatMap { encode($0) } },
              encode: { [self] in encode(event) }, pace: pace, pause: pace.map(DeliveryPause.init)))
        )
      }
    }
    journal.submit(stored)
    guard !direct.isEmpty else { return }
    output.async { [self, direct] in
      for (event, clients) in direct { deliver(event, to: clients, isEnd: false) }
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
    source?.wake()
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

  private func encode(_ value: some Encodable) -> [UInt8]? {
    do {
      return Array(try JSONEncoder().encode(value))
    } catch {
      store.logger.error("\(S.name): a value cannot be stored: \(error)")
      return nil
    }
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
