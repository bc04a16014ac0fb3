import Ranging
import Scanning

/// When reports are due, on the recording's time.
///
/// They come every interval from the first packet on, and one at the end. While nothing is in the
/// list they go on for ``mostEmpty`` reports and then rest until a beacon is heard, so that a silent
/// night in a recording is not a hundred thousand empty lists.
struct RangingSession {
  /// What is reported at a moment.
  struct Report {
    var time: Timestamp
    var beacons: [RangedBeacon]
  }

  private(set) var ranger: Ranger
  private let interval: Int64
  private var due: Timestamp?
  private var hasStarted = false
  private var empty = 0
  private var hasNews = false

  private static let mostEmpty = 60

  init(ranger: Ranger, interval: Int64) {
    self.ranger = ranger
    self.interval = interval
  }

  /// Sets the first report an interval after a moment, once.
  mutating func start(at moment: Timestamp) {
    guard !hasStarted else { return }
    hasStarted = true
    due = moment
    setDue(after: 1)
  }

  /// The next report, if one is due at a moment or before.
  mutating func report(before moment: Timestamp) -> Report? {
    guard let time = due, time <= moment else { return nil }
    if empty >= Self.mostEmpty {
      // Rest, and keep the beat.
      setDue(after: moment.nanoseconds(since: time) / interval + 1)
      return nil
    }
    setDue(after: 1)
    return report(at: time)
  }

  /// Sets the next report some beats after the one that was due. At the end of time there is none.
  private mutating func setDue(after beats: Int64) {
    guard let time = due else { return }
    let wait = beats.multipliedReportingOverflow(by: interval)
    let next = wait.overflow ? time : time.advanced(by: wait.partialValue)
    due = next > time ? next : nil
  }

  /// The report at the end of a recording, of what no other told.
  mutating func lastReport(at moment: Timestamp) -> Report? {
    hasNews ? report(at: moment) : nil
  }

  /// Takes a sighting.
  mutating func hear(_ sighting: Sighting) {
    hasNews = true
    empty = 0
    ranger.hear(sighting)
  }

  private mutating func report(at time: Timestamp) -> Report {
    let beacons = ranger.report(at: time)
    empty = beacons.isEmpty ? empty + 1 : 0
    hasNews = false
    return Report(time: time, beacons: beacons)
  }
}
