package import Scanning

/// A mapping of a recording's time stamps to times that never decrease.
///
/// A packet up to a second out of order gets the latest time so far. A longer step back means that
/// the recording host's clock was set: time continues from there with the new clock. A step forward
/// cannot be distinguished from silence, and counts as silence.
package struct Timeline {
  package private(set) var disordered = 0
  package private(set) var stepsBack = 0
  package private(set) var first: MonotonicTime?
  package private(set) var now = MonotonicTime(nanoseconds: 0)
  package private(set) var wallClockOffset = WallClockOffset.zero

  package var isOver: Bool { duration != nil && now >= end }

  private var latestRecorded = WallClockTime(nanoseconds: .min)
  private let duration: Int64?
  private var end = MonotonicTime(nanoseconds: .max)

  private static let longestDisorder = MonotonicTime.nanosecondsPerSecond

  /// Creates a timeline that ends `duration` nanoseconds after its first time.
  package init(duration: Int64? = nil) { self.duration = duration }

  /// Returns the time of a recorded time stamp. Returns `nil`, with nothing changed, if the
  /// recorded clock was set back and `mayStep` is `false`.
  @inline(__always)
  package mutating func place(_ recorded: WallClockTime, mayStep: Bool) -> MonotonicTime? {
    guard recorded >= latestRecorded else { return placeEarlier(recorded, mayStep: mayStep) }
    latestRecorded = recorded
    let time = recorded.monotonicTime(wallClockOffset)
    now = wallClockOffset == .zero ? time : max(now, time)
    if first == nil { begin() }
    return now
  }

  /// The state of a fast path, which keeps it in registers; ``Course/none`` before the first time.
  var course: Course {
    guard first != nil else { return .none }
    return Course(
      recorded: max(latestRecorded, now.wallClockTime(wallClockOffset)),
      end: end.wallClockTime(wallClockOffset), offset: wallClockOffset)
  }

  /// A part of the timeline without steps, in recorded time. Those time stamps that fit minus the
  /// offset need no checks.
  struct Course: BitwiseCopyable {
    fileprivate(set) var recorded: WallClockTime
    fileprivate let end: WallClockTime
    fileprivate let offset: WallClockOffset

    var now: MonotonicTime {
      MonotonicTime(nanoseconds: recorded.nanoseconds &- offset.nanoseconds)
    }

    static let none = Course(
      recorded: WallClockTime(nanoseconds: .max), end: WallClockTime(nanoseconds: .min),
      offset: .zero)

    /// Advances to a time stamp; returns `false` if it goes back or is past the end.
    @inline(__always)
    mutating func advance(to recorded: WallClockTime) -> Bool {
      guard recorded >= self.recorded, recorded < end else { return false }
      self.recorded = recorded
      return true
    }
  }

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
