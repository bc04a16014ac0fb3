import RegionStorage
package import Regions
package import Scanning
import Synchronization

/// What who drives the services by hand is shown, beside what delegates are told.
package enum ServiceNews {
  /// Sightings, in order, whether they are asked for or not.
  case heard(ArraySlice<Sighting>)
  /// What is ranged.
  case ranged(RangingReport)
  /// What happened to a region, with the reason.
  case region(RegionTransition)
  /// How well the scanner hears.
  case health(ScannerHealth)
}

extension LocationServices {
  /// Sees to it that somebody listens, where something is asked for.
  func wake() {
    guard !configuration.isDrivenByHand else { return }
    let starts = state.withLock { state in
      guard !state.isLooping, state.demand != .none else { return false }
      state.isLooping = true
      return true
    }
    guard starts else { return }
    // The loop does not keep the services: who lets go of them ends it.
    queue.async { [weak self] in
      var sightings: [Sighting] = []
      while let services = self, services.listenOnce(&sightings) {}
    }
  }

  /// - Returns: Whether something is still asked for.
  private func listenOnce(_ sightings: inout [Sighting]) -> Bool {
    if scanner?.isRecorded == true { calls.wait() }
    if (try? step(&sightings, show: { _ in true })) == true { return true }
    tellEnd()
    return false
  }

  /// Drives the services on this thread, until nothing more will be heard, nothing is asked for, or the
  /// caller has enough. Delegates of managers that were made for it are called on this thread.
  ///
  /// - Parameters:
  ///   - isWanted: Whether to go on; asked at least every tenth of a second.
  ///   - show: Is shown what is new, and says whether to go on.
  /// - Throws: What the scanner threw, or `show`.
  package func run(while isWanted: () -> Bool, show: (ServiceNews) throws -> Bool) throws {
    var sightings: [Sighting] = []
    while isWanted(), try step(&sightings, show: show) {}
    tellEnd()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Listens once, and tells what came of it.
  ///
  /// - Returns: Whether to go on.
  private func step(_ sightings: inout [Sighting], show: (ServiceNews) throws -> Bool) throws
    -> Bool
  {
    guard let scanner, let plan = plan() else {
      // The loop was ended before the scanner is told: who asks meanwhile has it start anew, after this.
      self.scanner?.rest()
      return false
    }
    var progress = plan.held?.progress ?? ScanProgress()
    if let held = plan.held {
      sightings = held.sightings
    } else {
      do {
        progress = try scanner.receive(for: plan.demand, until: plan.deadline, into: &sightings)
      } catch {
        try finish(show)
        send(state.withLock { $0.fail(error, remark: "\(scanner.name): \(error)") })
        scanner.rest()
        return false
      }
    }
    return try tell(sightings, progress, show: show)
  }

  private typealias Plan = (
    demand: ScanDemand, deadline: MonotonicTime?,
    held: (sightings: [Sighting], progress: ScanProgress)?
  )

  /// What to do next; `nil` ends the loop.
  private func plan() -> Plan? {
    checkAuthorization()
    return state.withLock { state in
      let demand = state.demand
      guard demand != .none else {
        state.isLooping = false
        // A radio's time goes on while it rests.
        if !state.isRecorded { state.engine.rest() }
        return nil
      }
      // A recording has everything that was heard, whoever asks.
      if !state.isRecorded { state.engine.monitor.listen(fully: demand == .ranging) }
      defer { state.held = nil }
      return (demand, state.engine.nextDeadline, state.held)
    }
  }

  /// Does with sightings what is asked for, and tells what comes of it, in order: in a recording, each thing
  /// before the next is looked at.
  ///
  /// - Returns: Whether to go on.
  private func tell(
    _ sightings: [Sighting], _ progress: ScanProgress, show: (ServiceNews) throws -> Bool
  ) throws -> Bool {
    let isRecorded = scanner?.isRecorded ?? false
    let store = openStore()
    var rest = sightings[...]
    var health = progress.health[...]
    var isDone = false
    while !isDone {
      var heard = rest.prefix(0)
      let told = state.withLock { state in
        guard state.demand != .none else {
          // Of a recording, the rest is kept for who listens next; of a radio, how well it hears.
          if isRecorded {
            var progress = progress
            progress.health = Array(health)
            state.held = (Array(rest), progress)
          } else {
            health.forEach { state.engine.note($0) }
          }
          isDone = true
          return state.takeNews(recordingIn: store)
        }
        state.wallClockShift = progress.wallClockOffset.nanoseconds
        if let began = progress.began { state.engine.begin(at: began) }
        // How well it hears from a moment on bears on what it heard from then on.
        let due = health.first.map { next in rest.prefix { $0.time < next.time } } ?? rest
        heard = rest.prefix(state.engine.hear(due))
        rest = rest.dropFirst(heard.count)
        if heard.count < due.count || !state.engine.news.isEmpty {
          // To be told first.
        } else if let next = health.first {
          if state.engine.isPast(next.time) || state.engine.advance(to: next.time) {
            state.engine.note(health.removeFirst())
          }
        } else {
          isDone = progress.reached.map { state.engine.advance(to: $0) } ?? true
          if isDone, progress.isOver {
            state.end =
              "\(scanner?.name ?? "the recording") is at its end; start again to replay it"
          }
        }
        return state.takeNews(recordingIn: store)
      }
      if !heard.isEmpty, try !show(.heard(heard)) { return false }
      guard try pass(on: told, show: show) else { return false }
      if isRecorded, !told.calls.isEmpty { calls.wait() }
    }
    if progress.isOver, try !finish(show) { return false }
    return true
  }

  /// Nothing more will be heard: what was, and no report has told, is told now.
  ///
  /// - Returns: Whether to go on.
  @discardableResult
  private func finish(_ show: (ServiceNews) throws -> Bool) throws -> Bool {
    let told = state.withLock { state in
      state.engine.finish()
      return state.takeNews(recordingIn: nil)
    }
    defer { send(state.withLock { $0.giveUpQuestions() }) }
    return try pass(on: told, show: show)
  }

  /// Shows what is new, and calls the delegates.
  ///
  /// Who has enough, or throws, was not told the rest: no delegate is called for it, so that events that
  /// outlive the process are told by the next one.
  ///
  /// - Returns: Whether to go on.
  private func pass(on told: ServiceState.Told, show: (ServiceNews) throws -> Bool) throws -> Bool {
    var shown = 0
    var isWanted = true
    defer { send(Array(told.calls.prefix(shown))) }
    for (item, end) in zip(told.news, told.ends) where isWanted {
      isWanted = try show(item)
      shown = end
    }
    if isWanted { shown = told.calls.count }
    return isWanted
  }
}
