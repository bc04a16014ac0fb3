import Scanning

/// The reasons why the absence of adverts means nothing yet, although the adapter scans.
struct AbsenceProof: Sendable {
  /// Finds repeated adverts while another scan's duplicate filter may be on; `nil` otherwise.
  private var repeats: RepeatFinder?
  private var replaced: String?
  private var hasReceivedInPlace = false

  var isMissing: Bool { mayBeFiltered || replaced != nil && !hasReceivedInPlace }

  var mayBeFiltered: Bool { repeats != nil }

  var detail: String? {
    replaced.map {
      "in the place of \($0), which is used again when it is back and on"
        + (hasReceivedInPlace ? "" : "; it has not received anything yet")
    }
  }

  mutating func opened(inPlaceOf other: String?) {
    if other != replaced { hasReceivedInPlace = false }
    replaced = other
    repeats = nil
  }

  /// Records that another program's scan runs, whose duplicate filter may be on.
  mutating func filterUnknown() { repeats = RepeatFinder() }

  /// Records that the duplicate filter is known, or that no scan runs.
  mutating func filterKnown() { repeats = nil }

  mutating func received() -> Bool {
    defer { hasReceivedInPlace = true }
    return replaced != nil && !hasReceivedInPlace
  }

  /// Records an advert's hash; returns whether its repetition shows that no duplicate filter is on.
  mutating func received(_ hash: Int, at time: MonotonicTime) -> Bool {
    guard repeats?.receive(hash, at: time) == true else { return false }
    repeats = nil
    return true
  }
}

/// A finder of adverts that repeat within ten seconds, among the first 64 with different hashes.
/// Later adverts replace no remembered ones, so a crowd does not hide a repetition.
struct RepeatFinder: Sendable {
  private var remembered = [(hash: Int, time: MonotonicTime)?](repeating: nil, count: 64)

  private static let memory = 10 * MonotonicTime.nanosecondsPerSecond

  mutating func receive(_ hash: Int, at time: MonotonicTime) -> Bool {
    let place = hash & 63
    if let known = remembered[place], time.nanoseconds(since: known.time) < Self.memory {
      return known.hash == hash
    }
    remembered[place] = (hash, time)
    return false
  }
}
