internal import Scanning

/// Reception time, in nanoseconds: it stops while reception is lost.
struct ReceptionClock: Sendable {
  private(set) var latest: Int64?
  private var lastReceived = Int64.min
  /// The moment at which reception was lost; `nil` during reception.
  private(set) var lostSince: Int64?
  /// The nanoseconds of earlier losses.
  private(set) var lostTime: Int64 = 0
  private(set) var losses: UInt32 = 0

  var now: Int64? { latest.map { Self.subtract(lostSince ?? $0, lostTime) } }

  /// Advances to a moment, and returns its reception time. An earlier moment counts as the latest.
  mutating func advance(to time: MonotonicTime, isSighting: Bool = false) -> Int64 {
    let time = max(time.nanoseconds, latest ?? .min)
    latest = time
    if isSighting { lastReceived = time }
    return Self.subtract(lostSince ?? time, lostTime)
  }

  /// Stops at a moment, which may be past, but not before the last sighting.
  mutating func receptionLost(from time: MonotonicTime) {
    guard lostSince == nil else { return }
    lostSince = max(time.nanoseconds, lastReceived)
    losses &+= 1
    latest = max(latest ?? .min, time.nanoseconds)
  }

  mutating func receptionRestored(at time: MonotonicTime) {
    guard let since = lostSince else { return }
    let time = max(time.nanoseconds, latest ?? .min, since)
    latest = time
    lastReceived = time
    lostTime = Self.add(lostTime, Self.subtract(time, since))
    lostSince = nil
  }

  /// Returns the moment of a reception time; during a loss, the latest moment.
  func moment(_ time: Int64) -> MonotonicTime {
    let moment = Self.add(time, lostTime)
    if let lostSince, let latest, moment >= lostSince { return MonotonicTime(nanoseconds: latest) }
    return MonotonicTime(nanoseconds: moment)
  }

  /// Adds with saturation.
  static func add(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).advanced(by: right).nanoseconds
  }

  /// Subtracts with saturation.
  static func subtract(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).nanoseconds(since: MonotonicTime(nanoseconds: right))
  }

  /// Returns seconds as nanoseconds, from 0 to the greatest number.
  static func nanoseconds(_ seconds: Double) -> Int64 {
    seconds < 9e9 ? Int64(max(seconds, 0) * 1e9) : .max
  }
}
