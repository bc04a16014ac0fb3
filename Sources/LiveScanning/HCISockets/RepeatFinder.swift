import Scanning

/// Finds an advert that is reported a second time within ten seconds, among the first 64 of different hashes in that time.
///
/// Adverts that come later do not take the place of one that is remembered, so that one of a crowd is found when it is
/// repeated. It takes 1 KB.
struct RepeatFinder: Sendable {
  private var remembered = [(hash: Int, time: MonotonicTime)?](repeating: nil, count: 64)

  private static let memory = 10 * MonotonicTime.nanosecondsPerSecond

  /// Records an advert by its hash, and returns whether it was reported before.
  mutating func receive(_ hash: Int, at time: MonotonicTime) -> Bool {
    let place = hash & 63
    if let known = remembered[place], time.nanoseconds(since: known.time) < Self.memory {
      return known.hash == hash
    }
    remembered[place] = (hash, time)
    return false
  }
}
