/// Waiting times in nanoseconds, which double from the first to the longest.
package struct Backoff: Sendable {
  private let first: Int64
  private let longest: Int64
  private var upcoming: Int64

  package init(first: Int64, longest: Int64) {
    self.first = first
    self.longest = longest
    upcoming = first
  }

  /// The times for cheap attempts: from a quarter of a second to one and a half seconds.
  package static let quick = Backoff(first: 250_000_000, longest: 1_500_000_000)
  /// The times for attempts that disturb others: from ten seconds to ten minutes.
  package static let slow = Backoff(first: 10_000_000_000, longest: 600_000_000_000)

  package mutating func next() -> Int64 {
    defer { upcoming = min(upcoming * 2, longest) }
    return upcoming
  }

  /// Whether nothing has failed since ``reset()``.
  package var isFresh: Bool { upcoming == first }

  package mutating func reset() { upcoming = first }
}
