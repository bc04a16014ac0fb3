import Scanning

/// A finder of adverts that repeat within ten seconds, among the first 64 with different hashes.
///
/// Later adverts replace no remembered ones, so a crowd does not hide a repetition. It takes 1 KB.
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
