import CaptureFiles
import Positioning
import Scanning

/// The output of a track, which gives each fix its time and counts irregularities.
///
/// As in ``Timeline``, times are UTC while the track's clock advances, and continue from there
/// after a step back. A step of 1024 weeks, within seven days, is a rollover of a receiver's week
/// number: after a step back, times are corrected; a step forward ends a rollover from before the
/// track, so time stamps are kept and the timeline does not step.
struct TrackOutput {
  private(set) var inputs: [PositionInput] = []
  private(set) var runs: [TrackRun] = []
  private(set) var timeline: Timeline
  var counts = TrackCounts()

  /// 1024 weeks, because the first GPS signals have a week number of ten bits.
  private static let era: Int64 = 1024 * 7 * 86400 * WallClockTime.nanosecondsPerSecond
  private static let eraTolerance: Int64 = 7 * 86400 * WallClockTime.nanosecondsPerSecond
  private static let greatestSpeed = 350.0

  private var correction: Int64 = 0
  /// The shift subtracted from the corrected times on the timeline.
  private var lineShift: Int64 = 0
  private var latest: WallClockTime?
  private var lastFix: Fix?
  private var lastInterval = Double.infinity

  init(duration: Int64?) { timeline = Timeline(duration: duration) }

  var wallClockOffset: WallClockOffset {
    WallClockOffset(nanoseconds: sum(timeline.wallClockOffset.nanoseconds, lineShift))
  }

  mutating func count(_ oddity: TrackOddity) { counts[oddity] += 1 }

  mutating func add(_ stated: Fix) {
    if let lastFix, stated.timestamp.advanced(by: correction) == lastFix.timestamp {
      return count(.duplicate)
    }
    guard let (time, timestamp) = place(stated.timestamp) else { return }
    var fix = stated
    fix.time = time
    fix.timestamp = timestamp
    if let lastFix {
      let interval = time.seconds(since: lastFix.time)
      if interval > 10, interval > 3 * lastInterval { count(.gap) }
      if interval > 0 { lastInterval = interval }
      let reach =
        Self.greatestSpeed * interval + 3 * (lastFix.horizontalAccuracy + fix.horizontalAccuracy)
      if lastFix.place.distance(to: fix.place) > reach { count(.jump) }
    }
    lastFix = fix
    counts.fixes += 1
    append(.fix(fix))
  }

  mutating func add(_ stated: CompassReading) {
    guard let (time, timestamp) = place(stated.timestamp) else { return }
    var reading = stated
    reading.time = time
    reading.timestamp = timestamp
    counts.compassReadings += 1
    append(.compass(reading))
  }

  private mutating func append(_ input: PositionInput) {
    if runs.last?.wallClockOffset != wallClockOffset {
      runs.append(TrackRun(count: 0, wallClockOffset: wallClockOffset))
    }
    runs[runs.count - 1].count += 1
    inputs.append(input)
  }

  mutating func take(_ taken: inout [PositionInput]) -> [TrackRun] {
    defer {
      inputs.removeAll(keepingCapacity: true)
      runs.removeAll(keepingCapacity: true)
    }
    taken += inputs
    return runs
  }

  /// Sets the clock of a track with an unknown date, without a step of the timeline.
  mutating func setClock(_ stated: WallClockTime) {
    guard let latest else { return }
    lineShift = sum(lineShift, stated.advanced(by: correction).nanoseconds(since: latest))
    self.latest = stated.advanced(by: correction)
  }

  /// Returns a time on the timeline and the corrected timestamp; `nil` after the duration.
  private mutating func place(_ stated: WallClockTime) -> (MonotonicTime, WallClockTime)? {
    guard !timeline.isOver else { return nil }
    var recorded = stated.advanced(by: correction)
    if let latest {
      let step = recorded.nanoseconds(since: latest)
      let turns = Int64((Double(step) / Double(Self.era)).rounded())
      let (eras, overflow) = turns.multipliedReportingOverflow(by: Self.era)
      if turns != 0, !overflow,
        step.subtractingReportingOverflow(eras).partialValue.magnitude
          < UInt64(Self.eraTolerance)
      {
        count(.weekRollover)
        // This first undoes an earlier correction.
        let corrected = eras < 0 ? eras : min(eras, max(correction, 0))
        correction = sum(correction, 0 - corrected)
        lineShift = sum(lineShift, eras - corrected)
        recorded = stated.advanced(by: correction)
      }
    }
    let (disordered, stepsBack) = (timeline.disordered, timeline.stepsBack)
    let onLine = WallClockTime(nanoseconds: sum(recorded.nanoseconds, 0 &- lineShift))
    let time = timeline.place(onLine, mayStep: true) ?? timeline.now
    guard !timeline.isOver else { return nil }
    if timeline.disordered > disordered { count(.disordered) }
    if timeline.stepsBack > stepsBack { count(.stepBack) }
    latest = recorded
    return (time, recorded)
  }
}

private func sum(_ left: Int64, _ right: Int64) -> Int64 {
  WallClockTime(nanoseconds: left).advanced(by: right).nanoseconds
}

/// Consecutive inputs with the same offset from the timeline to the track's clock.
struct TrackRun: Sendable {
  var count: Int
  var wallClockOffset: WallClockOffset
}
