internal import Scanning

/// Reception time, in nanoseconds: it stands still while reception is lost.
struct ReceptionClock: Sendable {
  /// The latest moment given; `nil` before the first.
  private(set) var latest: Int64?
  /// The moment of the last sighting.
  private var lastReceived = Int64.min
  /// The moment since which reception is lost; `nil` while there is reception.
  private(set) var lostSince: Int64?
  /// The nanoseconds of earlier losses.
  private(set) var lostTime: Int64 = 0
  /// The number of losses.
  private(set) var losses: UInt32 = 0

  /// The reception time now.
  var now: Int64? { latest.map { Self.subtract(lostSince ?? $0, lostTime) } }

  /// Advances to a moment, and returns its reception time; an earlier moment is taken as the latest.
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

  /// Resumes at a moment.
  mutating func receptionRestored(at time: MonotonicTime) {
    guard let since = lostSince else { return }
    let time = max(time.nanoseconds, latest ?? .min, since)
    latest = time
    lastReceived = time
    lostTime = Self.add(lostTime, Self.subtract(time, since))
    lostSince = nil
  }

  /// Returns the moment of a reception time; while reception is lost, the reception time lasts.
  func moment(_ time: Int64) -> MonotonicTime {
    let moment = Self.add(time, lostTime)
    if let lostSince, let latest, moment >= lostSince { return MonotonicTime(nanoseconds: latest) }
    return MonotonicTime(nanoseconds: moment)
  }

  /// Adds, staying at the ends of the range.
  static func add(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).advanced(by: right).nanoseconds
  }

  /// Subtracts, staying at the ends of the range.
  static func subtract(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).nanoseconds(since: MonotonicTime(nanoseconds: right))
  }

  /// Returns seconds as nanoseconds, from 0 to the greatest number.
  static func nanoseconds(_ seconds: Double) -> Int64 {
    seconds < 9e9 ? Int64(max(seconds, 0) * 1e9) : .max
  }
}
