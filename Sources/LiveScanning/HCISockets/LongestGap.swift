import Scanning

/// The longest time without a packet since all pending packets were read.
struct LongestGap: Sendable {
  private(set) var from: MonotonicTime
  private(set) var to: MonotonicTime
  /// The time of the last packet, or at which all had been read.
  private(set) var latest: MonotonicTime

  init(at time: MonotonicTime) { (from, to, latest) = (time, time, time) }

  /// The length in nanoseconds.
  var length: Int64 { to.nanoseconds(since: from) }

  /// Records a packet, or the end. Time does not go back.
  mutating func end(at time: MonotonicTime) {
    if time.nanoseconds(since: latest) > length { (from, to) = (latest, time) }
    latest = max(latest, time)
  }
}
