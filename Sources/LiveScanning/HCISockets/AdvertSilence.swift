import Scanning

/// The time since the last advert, and the times at which the scan is started again because of it.
struct AdvertSilence: Sendable {
  /// After so many nanoseconds without any advert the state is quiet.
  var timeout: Int64 = 30_000_000_000
  /// The time of the latest advert in this scan.
  private(set) var latestReport: MonotonicTime?
  /// The time at which the scan began.
  private var began: MonotonicTime?
  private var retry = Backoff.slow
  private var nextRetry: MonotonicTime?

  /// The interval at which the controller is asked whether it is still there, and that where
  /// nothing has been on air for so long, in nanoseconds: what could exit soon is on air.
  private static let (probeInterval, quietProbeInterval): (Int64, Int64) =
    (1_000_000_000, 4_000_000_000)
  private static let quietBegins: Int64 = 10_000_000_000

  /// Records that a scan began.
  mutating func began(at time: MonotonicTime) { (began, latestReport) = (time, nil) }

  /// Records that an advert was reported.
  mutating func received(at now: MonotonicTime) {
    (latestReport, nextRetry) = (now, nil)
    retry.reset()
  }

  /// Returns the nanoseconds without adverts; `nil` before any scan.
  private func length(at now: MonotonicTime) -> Int64? {
    (latestReport ?? began).map { now.nanoseconds(since: $0) }
  }

  /// Returns whether the state is quiet.
  func isQuiet(at now: MonotonicTime) -> Bool { length(at: now).map { $0 >= timeout } ?? false }

  /// Returns the nanoseconds from an answer of the controller to the next question.
  func probeInterval(at now: MonotonicTime) -> Int64 {
    length(at: now) ?? 0 >= Self.quietBegins ? Self.quietProbeInterval : Self.probeInterval
  }

  /// Returns whether the scan is to be started again now; the first time that it is called in a
  /// silence only determines when.
  mutating func retries(at now: MonotonicTime) -> Bool {
    guard now >= nextRetry ?? now else { return false }
    defer { nextRetry = now.advanced(by: retry.next()) }
    return nextRetry != nil
  }
}
