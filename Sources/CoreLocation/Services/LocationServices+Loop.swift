import Regions
import Scanning
import Synchronization

extension LocationServices {
  /// Sees to it that somebody listens, where something is asked for.
  func wake() {
    guard !configuration.isDrivenByHand else { return }
    let starts = state.withLock { state in
      guard !state.isLooping, state.demand != .none else { return false }
      state.isLooping = true
      return true
    }
    if starts { queue.async { self.loop() } }
  }

  /// Listens until nothing is asked for any more.
  private func loop() {
    var sightings: [Sighting] = []
    while true {
      if scanner?.isRecorded == true { calls.wait() }
      guard step(&sightings, hearing: nil) else { return }
    }
  }

  /// Drives the services on this thread, until nothing more will be heard, nothing is asked for, or the
  /// caller has enough. Delegates of managers that were made for it are called on this thread.
  ///
  /// - Parameters:
  ///   - isWanted: Whether to go on; asked at least every tenth of a second.
  ///   - hear: Sees each batch of sightings before anything is done with it.
  /// - Throws: What the scanner threw.
  package func run(while isWanted: () -> Bool, hearing hear: (() -> Void)? = nil) throws {
    var sightings: [Sighting] = []
    while isWanted(), step(&sightings, hearing: hear) {}
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Listens once, and tells what came of it.
  ///
  /// - Returns: Whether to go on.
  private func step(_ sightings: inout [Sighting], hearing hear: (() -> Void)?) -> Bool {
    guard let scanner, let plan = plan() else {
      // Set before the scanner is told, so that who asks meanwhile has the loop start anew, after this.
      self.scanner?.rest()
      return false
    }
    var progress = plan.held?.progress ?? ScanProgress()
    if let held = plan.held {
      sightings = held.sightings
    } else {
      do {
        progress = try scanner.listen(for: plan.demand, until: plan.deadline, into: &sightings)
      } catch {
        send(state.withLock { $0.fail(error, remark: "\(scanner.name): \(error)") })
        scanner.rest()
        return false
      }
    }
    hear?()
    tell(sightings, progress)
    return true
  }

  private typealias Plan = (
    demand: ScanDemand, deadline: Timestamp?, held: (sightings: [Sighting], progress: ScanProgress)?
  )

  /// What to do next; `nil` ends the loop.
  private func plan() -> Plan? {
    checkAuthorization()
    return state.withLock { state in
      let demand = state.demand
      guard demand != .none else {
        state.isLooping = false
        return nil
      }
      defer { state.held = nil }
      return (demand, state.engine.nextDeadline, state.held)
    }
  }

  /// Does with sightings what is asked for, and tells what comes of it, in order: in a recording, each thing
  /// before the next is looked at.
  private func tell(_ sightings: [Sighting], _ progress: ScanProgress) {
    let isRecorded = scanner?.isRecorded ?? false
    let store = openStore()
    var rest = sightings[...]
    var isDone = false
    while !isDone {
      let news = state.withLock { state -> (heard: ArraySlice<Sighting>, told: ServiceState.Told) in
        guard state.demand != .none else {
          // Of a recording, the rest is kept for who listens next.
          if isRecorded { state.held = (Array(rest), progress) }
          isDone = true
          return ([], ServiceState.Told())
        }
        state.wallClockShift = progress.wallClockShift
        if let began = progress.began { state.engine.begin(at: began) }
        let heard = rest.prefix(state.engine.hear(rest))
        rest = rest.dropFirst(heard.count)
        if rest.isEmpty, state.engine.news.isEmpty {
          isDone = progress.reached.map { state.engine.advance(to: $0) } ?? true
          if isDone, progress.isOver {
            state.engine.finish()
            state.end =
              "\(scanner?.name ?? "the recording") is at its end; start again to replay it"
          }
        }
        return (heard, state.takeNews(recordingIn: store))
      }
      for observe in news.told.sightings { observe(news.heard) }
      for observation in news.told.observations { observation() }
      send(news.told.calls)
      if isRecorded, !news.told.calls.isEmpty { calls.wait() }
    }
  }
}
