package import Clocks
import Synchronization

/// The choice among several sources of one kind, and the reception from the one that was chosen.
///
/// The owner says which source is used at first and which one in place of another. A source is left where it reports a fault for
/// ``Rules/patience``, or has no input for too long, and another one can be used. While a source that is not the best is
/// used, ``Rules/retry`` says how often the better ones are looked at: one that was left and had no input since is used again
/// only after that time, doubled each time, up to an hour.
///
/// A source that is left rests, and one that is chosen has rested, so it reports its state anew: the client knows the state of
/// what receives, whichever that is.
package final class Alternatives<Input: Sendable, Demand: Sendable, Health: SourceHealth>: Sendable
{
  package typealias Member = any Source<Input, Demand, Health>

  /// A source that is used, and why.
  package struct Choice: Hashable, Sendable {
    /// Its index; `nil` for none.
    package var index: Int?
    /// The reason, as the owner words it.
    package var reason: String

    /// Whether there is none because one refuses this process.
    package var isRefused = false

    package init(_ index: Int?, reason: String, isRefused: Bool = false) {
      self.index = index
      self.reason = reason
      self.isRefused = isRefused
    }
  }

  /// When a source is left, and when it is used again. Times are in nanoseconds.
  package struct Rules: Sendable {
    /// How long a fault lasts until the source is left.
    package var patience: Int64
    /// How often another source is looked for in place of one with a fault.
    package var search: Int64
    /// How often better sources are looked at, and how long one that was left is not used at least; `nil` for never: what is
    /// used stays in use until the client rests.
    package var retry: Int64?
    /// Whether a state is of the inputs that matter here.
    package var concerns: @Sendable (Health) -> Bool = { _ in true }
    /// Whether an input matters here.
    package var counts: @Sendable (Input) -> Bool = { _ in true }
    /// How long after the latest input a source in some state has had none for too long; `nil` where it need not have any.
    package var silence: @Sendable (Demand, _ health: Health?, _ hasInput: Bool) -> Int64? = {
      _, _, _ in nil
    }

    package init(patience: Int64, search: Int64, retry: Int64?) {
      (self.patience, self.search, self.retry) = (patience, search, retry)
    }
  }

  private static var longestRetry: Int64 { 3600 * MonotonicTime.nanosecondsPerSecond }
  /// How often a source is looked for where there is none.
  private static var pause: Int64 { MonotonicTime.nanosecondsPerSecond }

  private let sources: [Member]
  private let rules: Rules
  private let clock: @Sendable () -> MonotonicTime
  private let begin: @Sendable (_ left: [Int: String], _ current: Int?) -> Choice
  private let canReplace: @Sendable (Int) -> Bool
  private let leaving: @Sendable (Int, Health?) -> String
  private let wakeSignal = WakeSignal()
  private let state: Mutex<State>

  /// What is known of the sources.
  private struct State {
    var choice: Choice?
    /// Whether another one is to be chosen.
    var isLeft = false
    /// When the source was chosen, or delivered its latest input.
    var latest = MonotonicTime(nanoseconds: 0)
    /// Whether that was an input.
    var hasInput = false
    /// The state that the source reported last, and since when that is a fault.
    var health: Health?
    var faultSince: MonotonicTime?
    /// When another source is looked for, if this one is to be left.
    var nextSearch = MonotonicTime(nanoseconds: 0)
    /// Why each source was left, and until when it is not used.
    var left: [Int: (reason: String, until: MonotonicTime, retry: Int64)] = [:]
    /// When all sources are looked at.
    var nextLook = MonotonicTime(nanoseconds: 0)
    var began: MonotonicTime?
    var reached: MonotonicTime?

    var current: Int? { isLeft ? nil : choice?.index }
  }

  /// Creates a choice.
  ///
  /// - Parameters:
  ///   - sources: The sources.
  ///   - rules: When a source is left.
  ///   - clock: The time.
  ///   - begin: Returns the source to use, of those that were not left, whose reasons it is given; the one that is in use
  ///     need not be asked.
  ///   - canReplace: Returns whether another source can be used in place of one.
  ///   - leaving: Returns why a source is left: because of its state, or, where that is no fault, for want of inputs.
  package init(
    _ sources: [Member], _ rules: Rules, clock: @escaping @Sendable () -> MonotonicTime,
    begin: @escaping @Sendable (_ left: [Int: String], _ current: Int?) -> Choice,
    canReplace: @escaping @Sendable (Int) -> Bool,
    leaving: @escaping @Sendable (Int, Health?) -> String
  ) {
    (self.sources, self.rules, self.clock) = (sources, rules, clock)
    (self.begin, self.canReplace, self.leaving) = (begin, canReplace, leaving)
    state = Mutex(State())
  }

  /// What is used, and why; `nil` before the first choice.
  package var choice: Choice? { state.withLock { $0.choice } }

  /// Receives from the source that is chosen. What the progress says of the choice itself, a closure makes.
  package func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input],
    announce: (Choice, MonotonicTime) -> Health? = { _, _ in nil }
  ) throws -> SourceProgress<Health> {
    let now = clock()
    let (choice, before) = choose(at: now)
    var news: [Health] = []
    if choice != before, let health = announce(choice, now) { news = [health] }
    guard let current = choice.index else {
      inputs.removeAll(keepingCapacity: true)
      let end = now.advanced(by: Self.pause)
      wakeSignal.wait(nanoseconds: min(deadline ?? end, end).nanoseconds(since: now))
      return .live(news)
    }
    var progress = try sources[current].receive(for: demand, until: deadline, into: &inputs)
    let isLeft = leaves(current, after: progress, inputs, for: demand, at: clock())
    if isLeft { sources[current].rest() }
    // The fault of a source that another one replaces at once is none of the whole: the choice names it.
    progress.health = news + progress.health.filter { !(isLeft && $0.isFault) }
    state.withLock { state in
      state.began = state.began ?? progress.began
      state.reached = [state.reached, progress.reached].compactMap(\.self).max()
      (progress.began, progress.reached) = (state.began, state.reached)
    }
    if let last = before?.index, last != current { progress.hasOtherReceiver = true }
    return progress
  }

  package func wake() {
    wakeSignal.send()
    for source in sources { source.wake() }
  }

  /// Has all sources rest. A choice that stays until then is made anew.
  package func rest() {
    for source in sources { source.rest() }
    let now = clock()
    state.withLock { state in
      (state.latest, state.health, state.faultSince, state.reached) = (now, nil, nil, nil)
      // That there is none is reported anew.
      if state.choice?.index == nil { state.choice = nil }
      guard rules.retry == nil else { return }
      (state.choice, state.isLeft, state.left) = (nil, false, [:])
    }
  }

  /// Returns what is used now, and what was before. The sources are asked outside of the lock.
  private func choose(at now: MonotonicTime) -> (Choice, before: Choice?) {
    let known = state.withLock { $0 }
    if let choice = known.choice, known.current != nil, now < known.nextLook {
      return (choice, choice)
    }
    let left = known.left.filter { $0.key != known.current && now < $0.value.until }
    let choice = begin(left.mapValues(\.reason), known.current)
    if let last = known.current, last != choice.index { sources[last].rest() }
    return state.withLock { state in
      state.nextLook =
        choice.index == nil
        ? now.advanced(by: Self.pause)
        : rules.retry.map { now.advanced(by: $0) } ?? MonotonicTime(nanoseconds: .max)
      if let used = known.choice, choice.index != nil, choice.index == known.current {
        return (used, used)
      }
      (state.choice, state.isLeft) = (choice, false)
      (state.latest, state.hasInput, state.nextSearch) = (now, false, now)
      (state.health, state.faultSince) = (nil, nil)
      return (choice, known.choice)
    }
  }

  /// Returns whether a source is left because another one can be used: for a fault of it, or for want of an input.
  private func leaves(
    _ index: Int, after progress: SourceProgress<Health>, _ inputs: [Input], for demand: Demand,
    at now: MonotonicTime
  ) -> Bool {
    let health = state.withLock { state -> Health?? in
      for change in progress.health where rules.concerns(change) {
        (state.health, state.nextSearch) = (change, now)
        state.faultSince = change.isFault ? state.faultSince ?? min(change.time, now) : nil
      }
      if inputs.contains(where: rules.counts) {
        (state.latest, state.hasInput) = (now, true)
        state.left[index] = nil
      }
      guard now >= state.nextSearch else { return nil }
      if let since = state.faultSince {
        guard now.nanoseconds(since: since) >= rules.patience else { return nil }
        return .some(state.health)
      }
      guard let limit = rules.silence(demand, state.health, state.hasInput),
        now.nanoseconds(since: state.latest) >= limit
      else { return nil }
      return .some(nil)
    }
    guard let health else { return false }
    let canBeReplaced = canReplace(index)
    let reason = leaving(index, health)
    return state.withLock { state in
      guard canBeReplaced else {
        state.nextSearch = now.advanced(by: rules.search)
        return false
      }
      if let first = rules.retry {
        let retry = state.left[index].map { min($0.retry * 2, Self.longestRetry) } ?? first
        state.left[index] = (reason, now.advanced(by: retry), retry)
      } else {
        state.left = [index: (reason, MonotonicTime(nanoseconds: .max), 0)]
      }
      (state.nextLook, state.isLeft) = (now, true)
      return true
    }
  }
}
