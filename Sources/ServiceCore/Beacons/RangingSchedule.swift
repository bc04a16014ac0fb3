import Scanning

/// When ranging reports are due: every interval, on the scanner's time.
///
/// In a recording, reports rest after ``maximumEmpty`` empty ones in a row until a beacon is heard, so that a
/// silent night is not a hundred thousand empty lists. Live they come all the time.
struct RangingSchedule {
  /// When the next report is due; `nil` before the first moment is known, and at the end of time.
  private(set) var due: MonotonicTime?
  /// Whether something was heard that no report has told.
  private(set) var hasNews = false

  private let interval: Int64
  private let rests: Bool
  private var hasStarted = false
  private var empty = 0

  private static let maximumEmpty = 60

  /// Makes a beat of so many nanoseconds.
  init(interval: Int64, rests: Bool) {
    self.interval = max(1, interval)
    self.rests = rests
  }

  /// Sets the first report an interval after a moment, once.
  mutating func start(at moment: MonotonicTime) {
    guard !hasStarted else { return }
    hasStarted = true
    setDue(from: moment, after: 1)
  }

  /// Stops until it is started anew.
  mutating func pause() {
    hasStarted = false
    due = nil
    empty = 0
  }

  /// Notes a sighting.
  @inline(__always)
  mutating func receive() {
    hasNews = true
    empty = 0
  }

  /// Takes a report that is due at a moment or before.
  ///
  /// - Returns: The moment of the report; `nil` if none is due. Ask again: more may be.
  mutating func takeDue(by moment: MonotonicTime) -> MonotonicTime? {
    guard let time = due, time <= moment else { return nil }
    guard !rests || empty < Self.maximumEmpty else {
      // Rest, and keep the beat.
      setDue(from: time, after: moment.nanoseconds(since: time) / interval + 1)
      return nil
    }
    setDue(from: time, after: 1)
    return time
  }

  /// Is told what a report held.
  mutating func report(isEmpty: Bool) {
    empty = isEmpty ? empty + 1 : 0
    hasNews = false
  }

  /// At the end of time there is no next report.
  private mutating func setDue(from moment: MonotonicTime, after beats: Int64) {
    let wait = beats.multipliedReportingOverflow(by: interval)
    let next = wait.overflow ? moment : moment.advanced(by: wait.partialValue)
    due = next > moment ? next : nil
  }
}
