import Scanning

/// The longest time without a packet since all that waited had been read.
struct LongestGap: Sendable {
  private(set) var from: MonotonicTime
  private(set) var to: MonotonicTime
  /// The last packet, or when all had been read.
  private(set) var latest: MonotonicTime

  /// Begins at a moment at which all has been read.
  init(at time: MonotonicTime) { (from, to, latest) = (time, time, time) }

  /// Its length in nanoseconds.
  var length: Int64 { to.nanoseconds(since: from) }

  /// Records a packet, or the end. Time does not go back.
  mutating func end(at time: MonotonicTime) {
    if time.nanoseconds(since: latest) > length { (from, to) = (latest, time) }
    latest = max(latest, time)
  }
}
