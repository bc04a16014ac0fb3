/// Waits that grow.
package struct Backoff: Sendable {
  private let first: Int64
  private let longest: Int64
  private var upcoming: Int64

  package init(first: Int64, longest: Int64) {
    self.first = first
    self.longest = longest
    upcoming = first
  }

  /// What costs next to nothing: a quarter of a second to a second and a half.
  package static let quick = Backoff(first: 250_000_000, longest: 1_500_000_000)
  /// What disturbs: ten seconds to ten minutes.
  package static let slow = Backoff(first: 10_000_000_000, longest: 600_000_000_000)

  package mutating func next() -> Int64 {
    defer { upcoming = min(upcoming * 2, longest) }
    return upcoming
  }

  /// Whether nothing has failed since ``reset()``.
  package var isFresh: Bool { upcoming == first }

  /// All is well again.
  package mutating func reset() { upcoming = first }
}
