import Scanning

/// The times at which ranging reports are due: every interval, on the scanner's time. In a
/// recording, reports pause after ``maximumEmpty`` empty ones in a row until a beacon is received.
struct RangingSchedule {
  /// The moment of the next report; `nil` before the start and at the end of time.
  private(set) var due: MonotonicTime?
  private(set) var hasNews = false

  private let interval: Int64
  private let rests: Bool
  private var hasStarted = false
  private var empty = 0

  private static let maximumEmpty = 60

  /// Creates a schedule with an interval in nanoseconds.
  init(interval: Int64, rests: Bool) {
    self.interval = max(1, interval)
    self.rests = rests
  }

  /// Sets the first report an interval after a moment, unless the schedule has started.
  mutating func start(at moment: MonotonicTime) {
    guard !hasStarted else { return }
    hasStarted = true
    setDue(from: moment, after: 1)
  }

  mutating func pause() { (hasStarted, due, empty) = (false, nil, 0) }

  /// Pauses until the next start, and forgets the sightings.
  mutating func reset() {
    pause()
    hasNews = false
  }

  @inline(__always)
  mutating func receive() {
    hasNews = true
    empty = 0
  }

  /// Removes and returns a due report time. Call it until it returns `nil`.
  mutating func removeDue(by moment: MonotonicTime) -> MonotonicTime? {
    guard let time = due, time <= moment else { return nil }
    guard !rests || empty < Self.maximumEmpty else {
      // The interval is kept over the pause.
      setDue(from: time, after: moment.nanoseconds(since: time) / interval + 1)
      return nil
    }
    setDue(from: time, after: 1)
    return time
  }

  mutating func report(isEmpty: Bool) {
    empty = isEmpty ? empty + 1 : 0
    hasNews = false
  }

  private mutating func setDue(from moment: MonotonicTime, after beats: Int64) {
    let wait = beats.multipliedReportingOverflow(by: interval)
    let next = wait.overflow ? moment : moment.advanced(by: wait.partialValue)
    due = next > moment ? next : nil
  }
}
