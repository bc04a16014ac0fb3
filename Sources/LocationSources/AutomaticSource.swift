import Adapters
package import Positioning
package import Scanning
import Synchronization

/// The choice of one of several sources.
package struct LocationSourceChoice: Hashable, Sendable {
  /// The name of the source that is used; `nil` where there is none.
  package var name: String?
  /// Which source is used and why, and what keeps better ones from being used: one sentence without a full stop.
  package var sentence: String
}

/// The best of several sources, in the order of preference: gpsd, then GeoClue, then the configured position.
///
/// The first source that is available is used. Where it reports a fault, the next one that is available is used at once; where
/// it does not report that it receives, the next one is used ``patience`` after a fix was due, which is the demand's interval
/// after the latest fix. While a source that is not the first is used, the better ones are looked at every ``patience``: one that
/// is available again is used again. One that lost its turn and had no fix since is used again only after ``patience`` doubled
/// each time, up to an hour.
package final class AutomaticSource: LocationSource {
  /// How long a source may have no fix before the next one is used: 60 s, which a receiver's cold start takes at most.
  package static let patience = 60 * MonotonicTime.nanosecondsPerSecond
  private static let longestPatience = 3600 * MonotonicTime.nanosecondsPerSecond
  /// How often another source is looked for while there is none: 10 s.
  private static let searchInterval = 10 * MonotonicTime.nanosecondsPerSecond

  private let sources: [any LocationSource]
  private let clock: @Sendable () -> MonotonicTime
  private let state: Mutex<State>

  /// What is known of the sources.
  private struct State {
    var current: Int?
    /// When the current source was chosen, or delivered its latest fix.
    var latest = MonotonicTime(nanoseconds: 0)
    /// Whether that was a fix.
    var hasFix = false
    /// The state of locations that the current source reported last.
    var health: LocationHealth?
    /// When the sources after the current one are looked at, if it is to be left.
    var nextSearch = MonotonicTime(nanoseconds: 0)
    /// Why each source was left, and until when it is not used.
    var left: [(sentence: String, until: MonotonicTime, patience: Int64)?]
    /// When all sources are looked at.
    var nextLook = MonotonicTime(nanoseconds: 0)
    var choice = LocationSourceChoice(name: nil, sentence: "no location source was used yet")
  }

  /// Creates a choice of sources, the best first.
  package init(
    _ sources: [any LocationSource], clock: @escaping @Sendable () -> MonotonicTime = { .now }
  ) {
    (self.sources, self.clock) = (sources, clock)
    state = Mutex(State(left: Array(repeating: nil, count: sources.count)))
  }

  package var name: String { choice.name ?? "automatic location source" }
  package var isRecorded: Bool { false }
  /// Whether the source that is used now reports changes only.
  package var reportsOnlyChanges: Bool {
    state.withLock { state in state.current.map { sources[$0].reportsOnlyChanges } ?? false }
  }

  /// The source that is used now, and why.
  package var choice: LocationSourceChoice { state.withLock { $0.choice } }

  package var hasCompass: Bool { sources.contains { $0.hasCompass } }

  /// Returns the source that would be used now, and why, without using it.
  package func look() -> LocationSourceChoice {
    var reasons: [String] = []
    for source in sources {
      switch source.availability {
      case .available: return Self.choice(of: source.name, reasons)
      case .notPermitted(let sentence), .unavailable(let sentence): reasons.append(sentence)
      }
    }
    return Self.choice(of: nil, reasons)
  }

  private static func choice(of name: String?, _ reasons: [String]) -> LocationSourceChoice {
    let why = reasons.joined(separator: "; ")
    let sentence =
      switch name {
      case let name? where reasons.isEmpty: "\(name) is used, which comes first"
      case let name?: "\(name) is used, because \(why)"
      case nil: "no location source can be used: \(why.isEmpty ? "none is configured" : why)"
      }
    return LocationSourceChoice(name: name, sentence: sentence)
  }

  /// Whether one of the sources can be used; otherwise what keeps this process from the first that only lacks permission.
  package var availability: ScannerAvailability {
    let all = sources.map(\.availability)
    if all.contains(.available) { return .available }
    let refused = all.first { if case .notPermitted = $0 { true } else { false } }
    return refused ?? .unavailable(Self.choice(of: nil, all.compactMap(\.sentence)).sentence)
  }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    let now = clock()
    var progress = LocationProgress()
    let current = choose(at: now, into: &progress)
    guard let current else {
      // There is none: the look at them is repeated.
      let end = now.advanced(by: 2 * MonotonicTime.nanosecondsPerSecond)
      wakeSignal.wait(nanoseconds: min(deadline ?? end, end).nanoseconds(since: now))
      return .live(progress.health)
    }
    let received = try sources[current].receive(for: demand, until: deadline, into: &inputs)
    let isLeft = leaves(current, after: received, inputs, for: demand, at: clock())
    if isLeft { sources[current].rest() }
    // The fault of a source that another one replaces at once is none of this one: the choice names it.
    progress.health += received.health.filter { !(isLeft && $0.condition.isFault) }
    return .live(progress.health)
  }

  private let wakeSignal = WakeSignal()

  package func wake() {
    wakeSignal.send()
    for source in sources { source.wake() }
  }

  package func rest() {
    for source in sources { source.rest() }
    state.withLock { $0.latest = clock() }
  }

  // MARK: The choice

  /// Returns the source that is used now. The sources are asked outside of the lock.
  private func choose(at now: MonotonicTime, into progress: inout LocationProgress) -> Int? {
    let before = state.withLock { $0 }
    if before.current != nil, now < before.nextLook { return before.current }
    var reasons: [String] = []
    var isRefused = false
    let chosen = sources.indices.first { index in
      if index == before.current { return true }
      if let left = before.left[index], now < left.until {
        reasons.append(left.sentence)
        return false
      }
      let availability = sources[index].availability
      if case .notPermitted = availability { isRefused = true }
      if let sentence = availability.sentence { reasons.append(sentence) }
      return availability == .available
    }
    let choice = Self.choice(of: chosen.map { sources[$0].name }, reasons)
    state.withLock { state in
      state.nextLook = now.advanced(
        by: chosen == nil ? 2 * MonotonicTime.nanosecondsPerSecond : Self.patience)
      guard chosen == nil || chosen != before.current else { return }
      (state.current, state.choice) = (chosen, choice)
      (state.latest, state.hasFix, state.health, state.nextSearch) = (now, false, nil, now)
    }
    guard chosen == nil || chosen != before.current else { return chosen }
    if let last = before.current { sources[last].rest() }
    if choice != before.choice {
      let condition: LocationHealth.Condition =
        chosen != nil ? .searching : isRefused ? .notPermitted : .notRunning
      progress.health.append(LocationHealth(condition, at: now, sentence: choice.sentence))
    }
    return chosen
  }

  /// Returns whether a source is left because another one can be used: for a fault of it, or for want of a fix.
  private func leaves(
    _ index: Int, after progress: LocationProgress, _ inputs: [PositionInput],
    for demand: LocationDemand, at now: MonotonicTime
  ) -> Bool {
    let reason = state.withLock { state -> String? in
      if let health = progress.health.last(where: { $0.subject == .locations }) {
        (state.health, state.nextSearch) = (health, now)
      }
      if inputs.contains(where: { if case .fix = $0 { true } else { false } }) {
        (state.latest, state.hasFix) = (now, true)
        state.left[index] = nil
      }
      guard now >= state.nextSearch else { return nil }
      if let health = state.health, health.condition.isFault { return health.sentence }
      guard let fixes = demand.fixes, state.health?.condition != .receiving else { return nil }
      let due = state.latest.advanced(
        by: state.hasFix ? Int64(min(fixes.interval, 1e6) * 1e9) : 0)
      guard now.nanoseconds(since: due) >= Self.patience else { return nil }
      return "\(sources[index].name) had no fix for \(Self.patience / 1_000_000_000) s"
    }
    guard let reason else { return false }
    let isAnother = sources[(index + 1)...].contains { $0.availability == .available }
    return state.withLock { state in
      guard isAnother else {
        state.nextSearch = now.advanced(by: Self.searchInterval)
        return false
      }
      let patience =
        state.left[index].map { min($0.patience * 2, Self.longestPatience) } ?? Self.patience
      state.left[index] = (reason, now.advanced(by: patience), patience)
      (state.current, state.nextLook) = (nil, now)
      return true
    }
  }
}

extension ScannerAvailability {
  /// Why the source cannot be used.
  fileprivate var sentence: String? {
    switch self {
    case .available: nil
    case .notPermitted(let sentence), .unavailable(let sentence): sentence
    }
  }
}
