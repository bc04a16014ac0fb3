import Dispatch
package import Scanning
import Synchronization

/// Runs a source on its own thread for the services that use it, one of each manager.
///
/// The source receives for the union of their demands. Each service with a demand gets everything
/// that is received, and decides what its clients may have. One that joins while the source
/// receives starts with the source's known state.
package final class SharedSource<S: Service>: Sendable {
  package typealias Source = any Scanning.Source<S.Input, S.Demand, S.Health>

  package let source: Source

  /// The source's thread. Its work is added under the state's lock, with the decision that needs
  /// it, so that a rest never follows a later start.
  private let thread = DispatchQueue(label: "ServiceCore.\(S.name).receiver")
  private let state = Mutex(State())

  private struct State {
    var users: [User] = []
    var isRunning = false
    /// The number of calls of ``run()``, so that none is missed.
    var calls: UInt64 = 0
    /// The functions to call once a source that no service needs rests.
    var awaitsTurn: [@Sendable () -> Void] = []
    var availability: ScannerAvailability?
    /// The time before which availability is not checked again, in nanoseconds of uptime.
    var nextCheck: UInt64 = 0
    var end: (sentence: String, failure: (any Error)?)?
    var known = Known()
  }

  private struct User {
    weak var host: ServiceHost<S>?
  }

  /// The state of a source that receives, for services that join.
  private struct Known {
    /// The moment through which everything was delivered; `nil` before the first delivery.
    var reached: MonotonicTime?
    var health: [S.Health] = []
    /// The latest input, if it holds until the next one.
    var input: S.Input?
    /// The services that have received since the source's last rest.
    var receivers: [ObjectIdentifier] = []

    mutating func update(
      _ values: [S.Input], _ progress: SourceProgress<S.Health>, lasts: Bool
    ) {
      reached = progress.reached ?? reached
      if !progress.health.isEmpty {
        for change in progress.health {
          health.removeAll { S.replaces(change, $0) }
          health.append(change)
        }
      }
      if lasts, let last = values.last(where: S.lasts) { input = last }
    }

    /// Adds what a service that joins has missed.
    func prepend(to input: inout ServiceInput<S>) {
      guard let reached else { return }
      input.progress.began = reached
      let states = health.map { known in
        var known = known
        known.time = max(known.time, reached)
        return known
      }
      input.progress.health.insert(contentsOf: states, at: 0)
      if let last = self.input { input.values.insert(last, at: 0) }
    }
  }

  package init(_ source: Source) { self.source = source }

  deinit { source.rest() }

  func add(_ host: ServiceHost<S>) {
    let end = state.withLock { state in
      state.users.removeAll { $0.host == nil }
      state.users.append(User(host: host))
      return state.end
    }
    if let end { host.end(end.sentence, end.failure) }
  }

  /// Ends a wait of the source, because a demand has changed.
  func wake() { source.wake() }

  /// Starts the source for a service that has a demand.
  func run() {
    let wasRunning = state.withLock { state in
      state.calls += 1
      guard !state.isRunning else { return true }
      state.isRunning = true
      // The thread does not retain the shared source, so releasing it ends the thread's work.
      thread.async { [weak self] in
        var used: [S.Input] = []
        while let self, self.step(&used) {}
      }
      return false
    }
    if wasRunning { source.wake() }
  }

  /// Calls a function once the source has noticed a demand's end.
  func afterTurn(_ body: @escaping @Sendable () -> Void) {
    let isRunning = state.withLock { state in
      if state.isRunning {
        state.awaitsTurn.append(body)
      } else {
        thread.async { [source] in
          source.rest()
          body()
        }
      }
      return state.isRunning
    }
    if isRunning { source.wake() }
  }

  // MARK: Availability

  /// The last known availability, without waiting. Unknown counts as available.
  var latestAvailability: ScannerAvailability {
    if source.isRecorded { return source.availability }
    return state.withLock { $0.availability } ?? .available
  }

  /// Checks the availability on the thread of a source that rests, at most twice a minute. Calls
  /// a function if it has changed.
  func updateAvailability(_ changed: @escaping @Sendable () -> Void) {
    guard !source.isRecorded else { return }
    state.withLock { state in
      let now = DispatchTime.now().uptimeNanoseconds
      guard !state.isRunning, state.end == nil, now >= state.nextCheck else { return }
      state.nextCheck = now + 30_000_000_000
      thread.async { [weak self] in
        guard let self else { return }
        let found = source.availability
        let isNew = self.state.withLock { state in
          defer { state.availability = found }
          return found != state.availability ?? .available
        }
        if isNew { changed() }
      }
    }
  }

  /// Calls a function with the availability of a resting source after some seconds, on its thread.
  /// The function gets `nil` if the source receives again.
  func checkAvailability(
    after seconds: Double, _ body: @escaping @Sendable (ScannerAvailability?) -> Void
  ) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self else { return }
      let isRunning = state.withLock { state in
        if !state.isRunning { thread.async { [source] in body(source.availability) } }
        return state.isRunning
      }
      if isRunning { body(nil) }
    }
  }

  // MARK: Reception

  private func step(_ used: inout [S.Input]) -> Bool {
    // Functions that are added from here on wait for the next turns, which see their demand's end.
    let (users, calls, waiting) = state.withLock { state in
      defer { state.awaitsTurn = [] }
      return (state.users, state.calls, state.awaitsTurn)
    }
    let hosts = users.compactMap(\.host)
    for host in hosts { host.awaitClients() }
    var union: ServiceDemand<S.Demand>?
    var running: [ServiceHost<S>] = []
    for host in hosts {
      guard let demand = host.turn() else { continue }
      running.append(host)
      union = union.map { S.union($0, demand) } ?? demand
    }
    if running.isEmpty { state.withLock { $0.known = Known() } }
    guard let union else {
      source.rest()
      for body in waiting { body() }
      let isOver = state.withLock { state in
        let isOver = state.calls == calls && state.awaitsTurn.isEmpty
        if isOver { state.isRunning = false }
        return isOver
      }
      return !isOver
    }
    for body in waiting { body() }
    let interrupted = running.filter(\.hasRest)
    if !interrupted.isEmpty {
      for host in interrupted { host.processRest() }
      if let end = state.withLock({ $0.end }) {
        for host in interrupted { host.end(end.sentence, end.failure) }
      }
      return true
    }
    do {
      var values = consume used
      used = []
      let progress = try source.receive(for: union.demand, until: union.deadline, into: &values)
      deliver(values, progress, union.demand, to: running)
      used = consume values
      if progress.isOver { end(nil, hosts) }
    } catch {
      end(error, hosts)
    }
    return true
  }

  private func deliver(
    _ values: [S.Input], _ progress: SourceProgress<S.Health>, _ demand: S.Demand,
    to running: [ServiceHost<S>]
  ) {
    let known = state.withLock { state in
      let known = state.known
      let availability = progress.health.last(where: S.concernsAvailability)?.availability
      if let availability { state.availability = availability }
      state.known.update(values, progress, lasts: source.reportsOnlyChanges)
      state.known.receivers = running.map { ObjectIdentifier($0) }
      return known
    }
    for host in running {
      var input = ServiceInput<S>(
        values: values, progress: progress, reportsOnlyChanges: source.reportsOnlyChanges,
        demand: demand)
      if !known.receivers.contains(ObjectIdentifier(host)) { known.prepend(to: &input) }
      host.process(input)
    }
  }

  private func end(_ error: (any Error)?, _ hosts: [ServiceHost<S>]) {
    let sentence =
      error.map { "\(source.name): \($0)" }
      ?? "\(source.name) is at its end; start again to replay it"
    state.withLock { $0.end = $0.end ?? (sentence, error) }
    for host in hosts { host.end(sentence, error) }
  }
}
