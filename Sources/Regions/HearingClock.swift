internal import Scanning

/// Time in which the radio could hear, in nanoseconds: it stands still while the radio is deaf.
struct HearingClock: Sendable {
  /// The greatest time told; `nil` before any.
  private(set) var latest: Int64?
  /// When something was last heard.
  private var lastHeard = Int64.min
  /// Since when the radio is deaf.
  private(set) var deafSince: Int64?
  /// How long it was deaf before.
  private(set) var deafness: Int64 = 0
  /// How often it was deaf.
  private(set) var spells: UInt32 = 0

  /// The hearing time now.
  var now: Int64? { latest.map { Self.subtract(deafSince ?? $0, deafness) } }

  /// Is told the time; one that goes back is taken as the same.
  mutating func advance(to time: MonotonicTime, hearing: Bool = false) -> Int64 {
    let time = max(time.nanoseconds, latest ?? .min)
    latest = time
    if hearing { lastHeard = time }
    return Self.subtract(deafSince ?? time, deafness)
  }

  /// The radio is deaf since a moment, which may be past: but not before something was last heard.
  mutating func deaf(from time: MonotonicTime) {
    guard deafSince == nil else { return }
    deafSince = max(time.nanoseconds, lastHeard)
    spells &+= 1
    latest = max(latest ?? .min, time.nanoseconds)
  }

  /// The radio hears again.
  mutating func hearing(at time: MonotonicTime) {
    guard let since = deafSince else { return }
    let time = max(time.nanoseconds, latest ?? .min, since)
    latest = time
    lastHeard = time
    deafness = Self.add(deafness, Self.subtract(time, since))
    deafSince = nil
  }

  /// The moment that lies at a hearing time; while the radio is deaf, the hearing time lasts.
  func moment(_ time: Int64) -> MonotonicTime {
    let moment = Self.add(time, deafness)
    if let deafSince, let latest, moment >= deafSince { return MonotonicTime(nanoseconds: latest) }
    return MonotonicTime(nanoseconds: moment)
  }

  /// A sum that stays at the ends of its range.
  static func add(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).advanced(by: right).nanoseconds
  }

  /// A difference that stays at the ends of its range.
  static func subtract(_ left: Int64, _ right: Int64) -> Int64 {
    MonotonicTime(nanoseconds: left).nanoseconds(since: MonotonicTime(nanoseconds: right))
  }

  /// Seconds in nanoseconds, as far as they go.
  static func nanoseconds(_ seconds: Double) -> Int64 {
    seconds < 9e9 ? Int64(max(seconds, 0) * 1e9) : .max
  }
}
