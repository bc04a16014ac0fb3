package import Clocks
import Synchronization

/// A choice among several sources of one kind, and reception from the chosen one.
///
/// A source is left if it reports a fault for ``Rules/patience``, or delivers no input for too
/// long, and another one can be used. It is used again only after ``Rules/retry``, which doubles up
/// to an hour. It rests meanwhile, so a chosen source reports its state anew.
package final class Alternatives<Input: Sendable, Demand: Sendable, Health: SourceHealth>: Sendable
{
  package typealias Member = any Source<Input, Demand, Health>

  /// A chosen source, and the reason for the choice.
  package struct Choice: Hashable, Sendable {
    /// The index of the source; `nil` for none.
    package var index: Int?
    package var reason: String

    /// Whether no source is chosen because one refuses this process.
    package var isRefused = false

    package init(_ index: Int?, reason: String, isRefused: Bool = false) {
      self.index = index
      self.reason = reason
      self.isRefused = isRefused
    }
  }

  /// The rules for leaving a source and using it again. Times are in nanoseconds.
  package struct Rules: Sendable {
    /// The duration of a fault after which the source is left.
    package var patience: Int64
    /// The interval between searches for a replacement of the source in use.
    package var search: Int64
    /// The interval between checks of better sources, and the shortest time before a source that
    /// was left is used again. With `nil`, a source stays in use until the client rests.
    package var retry: Int64?
    /// Returns whether a state concerns the inputs that matter here.
    package var concerns: @Sendable (Health) -> Bool = { _ in true }
    /// Returns whether an input matters here.
    package var counts: @Sendable (Input) -> Bool = { _ in true }
    /// Returns the time without input after which a source is left; `nil` if it need not have any.
    package var silence: @Sendable (Demand, _ health: Health?, _ hasInput: Bool) -> Int64? = {
      _, _, _ in nil
    }

    package init(patience: Int64, search: Int64, retry: Int64?) {
      (self.patience, self.search, self.retry) = (patience, search, retry)
    }
  }

  private static var longestRetry: Int64 { 3600 * MonotonicTime.nanosecondsPerSecond }
  /// The interval between searches while no source is chosen.
  private static var pause: Int64 { MonotonicTime.nanosecondsPerSecond }

  private let sources: [Member]
  private let rules: Rules
  private let clock: @Sendable () -> MonotonicTime
  private let begin: @Sendable (_ left: [Int: String], _ current: Int?) -> Choice
  private let canReplace: @Sendable (Int) -> Bool
  private let leaving: @Sendable (Int, Health?) -> String
  private let wakeSignal = WakeSignal()
  private let state: Mutex<State>

  private struct State {
    var choice: Choice?
    var isLeft = false
    /// The time at which the source was chosen or delivered its latest input.
    var latest = MonotonicTime(nanoseconds: 0)
    var hasInput = false
    /// The state that the source reported last, and the start of its fault.
    var health: Health?
    var faultSince: MonotonicTime?
    /// The time of the next search for a replacement.
    var nextSearch = MonotonicTime(nanoseconds: 0)
    /// The reason for leaving each source, and the time until which it is not used.
    var left: [Int: (reason: String, until: MonotonicTime, retry: Int64)] = [:]
    /// The time of the next check of all sources.
    var nextLook = MonotonicTime(nanoseconds: 0)
    var began: MonotonicTime?
    var reached: MonotonicTime?

    var current: Int? { isLeft ? nil : choice?.index }
  }

  /// Creates a choice. `begin` returns the source to use, given the reasons of those that were
  /// left. `canReplace` returns whether another source can replace one. `leaving` returns the
  /// reason for leaving a source: its faulty state, or, for `nil`, a lack of inputs.
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

  /// The current choice; `nil` before the first one.
  package var choice: Choice? { state.withLock { $0.choice } }

  /// Receives from the chosen source. `announce` returns the state to report for a new choice.
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
    // The fault of a source that is replaced at once is not reported: the next choice names it.
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

  /// Lets all sources rest. If ``Rules/retry`` is `nil`, the next call chooses anew.
  package func rest() {
    for source in sources { source.rest() }
    let now = clock()
    state.withLock { state in
      (state.latest, state.health, state.faultSince, state.reached) = (now, nil, nil, nil)
      // The absence of a source is reported again.
      if state.choice?.index == nil { state.choice = nil }
      guard rules.retry == nil else { return }
      (state.choice, state.isLeft, state.left) = (nil, false, [:])
    }
  }

  /// Returns the current choice and the previous one. The sources are asked outside the lock.
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

  /// Returns whether a source is left for another one, because of a fault or a lack of inputs.
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
