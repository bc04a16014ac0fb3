import Scanning

/// The reasons for which the absence of adverts means nothing yet, though the adapter scans.
struct AbsenceProof: Sendable {
  /// Finds adverts that are reported twice, while it is not known whether another program's scan
  /// has its duplicate filter on; `nil` otherwise.
  private var repeats: RepeatFinder?
  /// The adapter in whose place this one scans, for a person; `nil` where there is none.
  private var replaced: String?
  /// Indicates whether this adapter has received anything in that place.
  private var hasReceivedInPlace = false

  /// Indicates whether the absence of adverts means nothing yet.
  var isMissing: Bool { mayBeFiltered || replaced != nil && !hasReceivedInPlace }

  /// Indicates whether another program's duplicate filter may be on.
  var mayBeFiltered: Bool { repeats != nil }

  /// The other adapter in whose place this one scans, as a part of a sentence.
  var detail: String? {
    replaced.map {
      "in the place of \($0), which is used again when it is back and on"
        + (hasReceivedInPlace ? "" : "; it has not received anything yet")
    }
  }

  /// Starts with an adapter, perhaps in the place of another one.
  mutating func opened(inPlaceOf other: String?) {
    if other != replaced { (replaced, hasReceivedInPlace) = (other, false) }
    repeats = nil
  }

  /// Records that another program's scan runs whose duplicate filter may be on.
  mutating func filterUnknown() { repeats = RepeatFinder() }

  /// Records that the duplicate filter of the scan that runs is known, or that no scan runs.
  mutating func filterKnown() { repeats = nil }

  /// Records that an advert was reported; returns whether it is the first in another adapter's
  /// place.
  mutating func received() -> Bool {
    defer { hasReceivedInPlace = true }
    return replaced != nil && !hasReceivedInPlace
  }

  /// Records the hash of an advert; returns whether it shows that no duplicate filter is on, as it
  /// was reported twice.
  mutating func received(_ hash: Int, at time: MonotonicTime) -> Bool {
    guard repeats?.receive(hash, at: time) == true else { return false }
    repeats = nil
    return true
  }
}
