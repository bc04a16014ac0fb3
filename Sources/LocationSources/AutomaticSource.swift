package import Clocks
package import Positioning
package import Sources

/// The best of several sources: gpsd, then GeoClue, then the configured position.
///
/// The next available source replaces one at once if it reports a fault, and ``patience`` after a
/// fix was due if it does not report that it receives. Better sources are tried again every
/// ``patience``, or at doubled times up to an hour if they have had no fix since.
package final class AutomaticSource: LocationSource {
  /// The time without a fix after which a source is replaced: 60 s, the longest cold start.
  package static let patience = 60 * MonotonicTime.nanosecondsPerSecond
  /// The time between searches while there is no source: 10 s.
  private static let searchInterval = 10 * MonotonicTime.nanosecondsPerSecond

  private typealias Choices = Alternatives<PositionInput, LocationDemand, LocationHealth>

  private let sources: [any LocationSource]
  private let alternatives: Choices

  package init(
    _ sources: [any LocationSource], clock: @escaping @Sendable () -> MonotonicTime = { .now }
  ) {
    self.sources = sources
    var rules = Choices.Rules(
      patience: 0, search: Self.searchInterval, retry: Self.patience)
    rules.concerns = { $0.subject == .locations }
    rules.counts = { if case .fix = $0 { true } else { false } }
    rules.silence = { demand, health, hasFix in
      guard let fixes = demand.fixes, health?.condition != .receiving else { return nil }
      return Self.patience + (hasFix ? Int64(min(fixes.interval, 1e6) * 1e9) : 0)
    }
    alternatives = Choices(sources.map { $0.erased }, rules, clock: clock) { left, current in
      Self.look(at: sources, left: left, current)
    } canReplace: { index in
      sources[(index + 1)...].contains { $0.availability == .available }
    } leaving: { index, health in
      health?.sentence
        ?? "\(sources[index].name) had no fix for \(Self.patience / 1_000_000_000) s"
    }
  }

  package var name: String { choice.name ?? "automatic location source" }
  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool {
    alternatives.choice?.index.map { sources[$0].reportsOnlyChanges } ?? false
  }

  /// The name of the source in use; and a sentence with the reason and the faults of better ones.
  package var choice: (name: String?, sentence: String) {
    alternatives.choice.map { (name(of: $0), sentence(for: $0)) }
      ?? (nil, "no location source was used yet")
  }

  package var hasCompass: Bool { sources.contains { $0.hasCompass } }
  package var mayHaveCompass: Bool { sources.contains { $0.mayHaveCompass } }

  package func look() -> String { sentence(for: Self.look(at: sources, left: [:], nil)) }

  private static func look(
    at sources: [any LocationSource], left: [Int: String], _ current: Int?
  ) -> Choices.Choice {
    var reasons: [String] = []
    var isRefused = false
    let chosen = sources.indices.first { index in
      if index == current { return true }
      if let reason = left[index] {
        reasons.append(reason)
        return false
      }
      let availability = sources[index].availability
      if case .notPermitted = availability { isRefused = true }
      if let sentence = availability.sentence { reasons.append(sentence) }
      return availability == .available
    }
    return .init(chosen, reason: reasons.joined(separator: "; "), isRefused: isRefused)
  }

  private func name(of choice: Choices.Choice) -> String? { choice.index.map { sources[$0].name } }

  private func sentence(for choice: Choices.Choice) -> String {
    let why = choice.reason
    return switch name(of: choice) {
    case let name? where why.isEmpty: "\(name) is used, which comes first"
    case let name?: "\(name) is used, because \(why)"
    case nil: "no location source can be used: \(why.isEmpty ? "none is configured" : why)"
    }
  }

  package var availability: ScannerAvailability {
    let all = sources.map(\.availability)
    if all.contains(.available) { return .available }
    let refused = all.first { if case .notPermitted = $0 { true } else { false } }
    let reasons = all.compactMap(\.sentence).joined(separator: "; ")
    return refused ?? .unavailable(sentence(for: .init(nil, reason: reasons)))
  }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    let progress = try alternatives.receive(for: demand, until: deadline, into: &inputs) {
      choice, now in
      LocationHealth(
        choice.index != nil ? .searching : choice.isRefused ? .notPermitted : .notRunning, at: now,
        sentence: sentence(for: choice))
    }
    return .live(progress.health)
  }

  package func wake() { alternatives.wake() }
  package func rest() { alternatives.rest() }
}
