import Scanning

/// The reasons why the absence of adverts means nothing yet, although the adapter scans.
struct AbsenceProof: Sendable {
  /// Finds repeated adverts while another scan's duplicate filter may be on; `nil` otherwise.
  private var repeats: RepeatFinder?
  /// The adapter that this one replaces, as text for people; `nil` if there is none.
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
    if other != replaced { (replaced, hasReceivedInPlace) = (other, false) }
    repeats = nil
  }

  /// Records that another program's scan runs, whose duplicate filter may be on.
  mutating func filterUnknown() { repeats = RepeatFinder() }

  /// Records that the duplicate filter is known, or that no scan runs.
  mutating func filterKnown() { repeats = nil }

  /// Records an advert; returns whether it is the first in place of another adapter.
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
