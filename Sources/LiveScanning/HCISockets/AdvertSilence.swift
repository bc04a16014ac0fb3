import Scanning

/// The time since the last advert, and the times to restart the scan because of it.
struct AdvertSilence: Sendable {
  /// The nanoseconds without any advert after which the state is quiet.
  var timeout: Int64 = 30_000_000_000
  private(set) var latestReport: MonotonicTime?
  private var began: MonotonicTime?
  private var retry = Backoff.slow
  private var nextRetry: MonotonicTime?

  /// The intervals in nanoseconds for checking that the controller is there. The longer one applies
  /// when nothing has been on air for `quietBegins`: then no beacon can exit soon.
  private static let probeInterval: Int64 = 1_000_000_000
  private static let quietProbeInterval: Int64 = 4_000_000_000
  private static let quietBegins: Int64 = 10_000_000_000

  mutating func began(at time: MonotonicTime) {
    began = time
    latestReport = nil
  }

  mutating func received(at now: MonotonicTime) {
    latestReport = now
    nextRetry = nil
    retry.reset()
  }

  private func length(at now: MonotonicTime) -> Int64? {
    (latestReport ?? began).map { now.nanoseconds(since: $0) }
  }

  func isQuiet(at now: MonotonicTime) -> Bool { length(at: now).map { $0 >= timeout } ?? false }

  func probeInterval(at now: MonotonicTime) -> Int64 {
    length(at: now) ?? 0 >= Self.quietBegins ? Self.quietProbeInterval : Self.probeInterval
  }

  /// Returns whether to restart the scan now; the first call in a silence only sets the time.
  mutating func retries(at now: MonotonicTime) -> Bool {
    guard now >= nextRetry ?? now else { return false }
    defer { nextRetry = now.advanced(by: retry.next()) }
    return nextRetry != nil
  }
}
