package import Scanning

/// Lays a recording's time stamps on a line that never goes back.
///
/// Packets that were written a little out of order (at most a second) are held at the latest time so
/// far. A longer step back is the recording host's clock being set: the line goes on from where it
/// was, by the new clock. A step forward cannot be distinguished from silence, and counts as silence.
package struct Timeline {
  /// How many packets stand a little out of order, and are held.
  package private(set) var disordered = 0
  /// How often the recording's clock was set back.
  package private(set) var stepsBack = 0
  /// The first and the last moment on the line.
  package private(set) var first: MonotonicTime?
  package private(set) var now = MonotonicTime(nanoseconds: 0)
  /// The distance from the line to the recorded clock.
  package private(set) var wallClockOffset = WallClockOffset.zero

  /// Whether the line has come to the moment at which it is to end.
  package var isOver: Bool { duration != nil && now >= end }

  private var latestRecorded = WallClockTime(nanoseconds: .min)
  private let duration: Int64?
  private var end = MonotonicTime(nanoseconds: .max)

  private static let longestDisorder = MonotonicTime.nanosecondsPerSecond

  /// Begins a line that ends so many nanoseconds after its first moment.
  package init(duration: Int64? = nil) { self.duration = duration }

  /// Returns the place of a recorded moment on the line; `nil`, with nothing changed, where the recorded clock was
  /// set back and may not step.
  @inline(__always)
  package mutating func place(_ recorded: WallClockTime, mayStep: Bool) -> MonotonicTime? {
    guard recorded >= latestRecorded else { return placeEarlier(recorded, mayStep: mayStep) }
    latestRecorded = recorded
    let time = recorded.monotonicTime(wallClockOffset)
    now = wallClockOffset == .zero ? time : max(now, time)
    if first == nil { begin() }
    return now
  }

  /// The line as a loop over packets keeps it in registers, while the recorded clock neither goes back nor
  /// comes to the end: none before the first moment.
  var course: Course {
    guard first != nil else { return .none }
    return Course(recorded: latestRecorded, now: now, end: end, offset: wallClockOffset)
  }

  struct Course: BitwiseCopyable {
    fileprivate(set) var recorded: WallClockTime
    fileprivate(set) var now: MonotonicTime
    fileprivate let end: MonotonicTime
    fileprivate let offset: WallClockOffset

    /// No moment lies on it.
    static let none = Course(
      recorded: WallClockTime(nanoseconds: .max), now: MonotonicTime(nanoseconds: .max),
      end: MonotonicTime(nanoseconds: .min), offset: .zero)

    /// Goes on to a recorded moment if it lies on the line's course, and returns whether it does.
    @inline(__always)
    mutating func advance(to recorded: WallClockTime) -> Bool {
      let time = recorded.monotonicTime(offset)
      guard recorded >= self.recorded, time >= now, time < end else { return false }
      (self.recorded, now) = (recorded, time)
      return true
    }
  }

  /// Goes on from where a loop has come.
  mutating func follow(_ course: Course) { (latestRecorded, now) = (course.recorded, course.now) }

  @inline(never)
  private mutating func placeEarlier(_ recorded: WallClockTime, mayStep: Bool) -> MonotonicTime? {
    let step = latestRecorded.nanoseconds(since: recorded)
    guard step > Self.longestDisorder else {
      disordered += 1
      return now
    }
    guard mayStep else { return nil }
    stepsBack += 1
    wallClockOffset.nanoseconds =
      MonotonicTime(nanoseconds: wallClockOffset.nanoseconds).advanced(by: 0 &- step).nanoseconds
    latestRecorded = recorded
    return now
  }

  @inline(never)
  private mutating func begin() {
    first = now
    if let duration { end = now.advanced(by: duration) }
  }
}
