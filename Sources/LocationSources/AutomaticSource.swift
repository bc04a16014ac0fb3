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
/// The first source that is available is used. Where it reports a fault, the next one that is available is used at once; where no
/// fix comes that is due, the next one is used after ``patience``. While a source that is not the first is used, the better ones
/// are looked at every ``patience``: one that is available again is used again. One that lost its turn and had no fix since is
/// used again only after ``patience`` doubled each time, up to an hour.
///
/// A fix is due after the demand's interval. Where the demand has a distance, a device that rests need not have one: then only a
/// source that reports that it searches loses its turn.
package final class AutomaticSource: LocationSource {
  /// How long a source may have no fix before the next one is used: 60 s, which a receiver's cold start takes at most.
  package static let patience = 60 * MonotonicTime.nanosecondsPerSecond
  private static let longestPatience = 3600 * MonotonicTime.nanosecondsPerSecond

  private let sources: [any LocationSource]
  private let clock: @Sendable () -> MonotonicTime
  private let state: Mutex<State>

  /// What is known of the sources.
  private struct State {
    var current: Int?
    /// When the current source was chosen, or delivered its latest fix.
    var latest = MonotonicTime(nanoseconds: 0)
    /// Whether the current source has a location, by its latest state.
    var isReceiving = false
    /// Why each source was left, and until when it is not used.
    var left: [(sentence: String, until: MonotonicTime, patience: Int64)?]
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
    let before = state.withLock { $0.current }
    let current = state.withLock { choose(&$0, at: now, into: &progress) }
    if let before, before != current { sources[before].rest() }
    guard let current else {
      // There is none: the look at them is repeated.
      let end = now.advanced(by: 2 * MonotonicTime.nanosecondsPerSecond)
      wakeSignal.wait(nanoseconds: min(deadline ?? end, end).nanoseconds(since: now))
      return .live(progress.health)
    }
    let received = try sources[current].receive(for: demand, until: deadline, into: &inputs)
    let isLeft = state.withLock { state in
      record(received, inputs, of: current, for: demand, in: &state, at: clock())
    }
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

  private func choose(
    _ state: inout State, at now: MonotonicTime, into progress: inout LocationProgress
  ) -> Int? {
    if state.current != nil, now < state.nextLook { return state.current }
    state.nextLook = now.advanced(
      by: state.current == nil ? 2 * MonotonicTime.nanosecondsPerSecond : Self.patience)
    var reasons: [String] = []
    var chosen: Int?
    for index in sources.indices {
      if index == state.current {
        chosen = index
        break
      }
      if let left = state.left[index], now < left.until {
        reasons.append(left.sentence)
        continue
      }
      switch sources[index].availability {
      case .available: chosen = index
      case .notPermitted(let sentence), .unavailable(let sentence): reasons.append(sentence)
      }
      if chosen != nil { break }
    }
    let choice = Self.choice(of: chosen.map { sources[$0].name }, reasons)
    guard choice.name != state.choice.name || state.current != chosen || chosen == nil else {
      return chosen
    }
    if chosen != nil {
      (state.latest, state.nextLook) = (now, now.advanced(by: Self.patience))
      state.isReceiving = false
    }
    if choice != state.choice {
      let condition: LocationHealth.Condition = chosen == nil ? .notRunning : .searching
      progress.health.append(LocationHealth(condition, at: now, sentence: choice.sentence))
    }
    (state.current, state.choice) = (chosen, choice)
    return chosen
  }

  /// Returns whether a source is left: for a fault of it, or for want of a fix.
  private func record(
    _ progress: LocationProgress, _ inputs: [PositionInput], of index: Int,
    for demand: LocationDemand, in state: inout State, at now: MonotonicTime
  ) -> Bool {
    if let health = progress.health.last { state.isReceiving = health.condition == .receiving }
    if inputs.contains(where: { if case .fix = $0 { true } else { false } }) {
      (state.latest, state.isReceiving) = (now, true)
      state.left[index] = nil
    }
    let sentence: String
    if let fault = progress.health.last, fault.condition.isFault {
      sentence = fault.sentence
    } else if isOverdue(demand, state, at: now) {
      sentence = "\(sources[index].name) had no fix for \(Self.patience / 1_000_000_000) s"
    } else {
      return false
    }
    let isAnother = sources[(index + 1)...].contains { $0.availability == .available }
    guard isAnother else { return false }
    let patience = state.left[index].map { min($0.patience * 2, Self.longestPatience) }
    let left = patience ?? Self.patience
    state.left[index] = (sentence, now.advanced(by: left), left)
    (state.current, state.nextLook) = (nil, now)
    return true
  }

  /// Returns whether the current source has had no fix for so long that another one is tried.
  private func isOverdue(
    _ demand: LocationDemand, _ state: State, at now: MonotonicTime
  ) -> Bool {
    guard let fixes = demand.fixes, fixes.distance == 0 || !state.isReceiving else { return false }
    // The source may rest between two fixes.
    let pause = state.isReceiving ? Int64(min(fixes.interval, 1e6) * 1e9) : 0
    return now.nanoseconds(since: state.latest) >= Self.patience + pause
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
