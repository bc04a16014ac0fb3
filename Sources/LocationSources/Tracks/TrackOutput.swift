import CaptureFiles
import Positioning
import RealModule
import Scanning

/// Collects what a track holds: gives each fix its place on the line of time, and counts what is strange about it.
///
/// The line is that of captures (``Timeline``): UTC as long as the track's clock goes forward; where that is set
/// back, the line goes on from where it was. A step of 1024 weeks, give or take seven days, is the week number of a
/// receiver that rolled over: a step back is corrected from there on; a step forward is the end of one that began
/// before the track, so that the time stamps are taken as they are and the line does not step. A track that was
/// recorded with the wrong era from its beginning to its end cannot be distinguished from an old one.
struct TrackOutput {
  /// What was found and is not taken yet.
  private(set) var inputs: [PositionInput] = []
  /// Parts of it, each with its distance to the track's clock: a clock that was set begins another one.
  private(set) var runs: [TrackRun] = []
  private(set) var timeline: Timeline
  var counts = TrackCounts()

  /// 1024 weeks: the GPS week number of the first signals has ten bits.
  private static let era: Int64 = 1024 * 7 * 86400 * WallClockTime.nanosecondsPerSecond
  private static let eraTolerance: Int64 = 7 * 86400 * WallClockTime.nanosecondsPerSecond
  /// The speed of no vehicle that lands, in meters per second.
  private static let greatestSpeed = 350.0

  /// Added to the stated times: whole eras.
  private var correction: Int64 = 0
  /// Subtracted from the corrected times on the line.
  private var lineShift: Int64 = 0
  private var latest: WallClockTime?
  private var lastFix: Fix?
  private var lastInterval = Double.infinity

  init(duration: Int64?) { timeline = Timeline(duration: duration) }

  /// The distance from the line to the track's clock.
  var wallClockOffset: WallClockOffset {
    WallClockOffset(nanoseconds: sum(timeline.wallClockOffset.nanoseconds, lineShift))
  }

  mutating func count(_ oddity: TrackOddity) { counts[oddity] += 1 }

  /// Adds a fix whose timestamp is the one that the source states.
  mutating func add(_ stated: Fix) {
    if let lastFix, stated.timestamp.advanced(by: correction) == lastFix.timestamp {
      return count(.duplicate)
    }
    guard let (time, timestamp) = place(stated.timestamp) else { return }
    var fix = stated
    (fix.time, fix.timestamp) = (time, timestamp)
    if let lastFix {
      let interval = time.seconds(since: lastFix.time)
      if interval > 10, interval > 3 * lastInterval { count(.gap) }
      if interval > 0 { lastInterval = interval }
      let reach =
        Self.greatestSpeed * interval + 3 * (lastFix.horizontalAccuracy + fix.horizontalAccuracy)
      if distance(lastFix.place, fix.place) > reach { count(.jump) }
    }
    lastFix = fix
    counts.fixes += 1
    append(.fix(fix))
  }

  /// Adds a compass reading whose timestamp is the one that the source states.
  mutating func add(_ stated: CompassReading) {
    guard let (time, timestamp) = place(stated.timestamp) else { return }
    var reading = stated
    (reading.time, reading.timestamp) = (time, timestamp)
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

  /// Moves what was found behind what an array holds, and returns its parts.
  mutating func take(_ taken: inout [PositionInput]) -> [TrackRun] {
    defer {
      inputs.removeAll(keepingCapacity: true)
      runs.removeAll(keepingCapacity: true)
    }
    taken += inputs
    return runs
  }

  /// Lets the line go on where it is, at another stated time: the track's date was not known before.
  mutating func setClock(_ stated: WallClockTime) {
    guard let latest else { return }
    lineShift = sum(lineShift, stated.advanced(by: correction).nanoseconds(since: latest))
    self.latest = stated.advanced(by: correction)
  }

  /// Returns the place on the line of a stated time, and that time corrected; `nil` behind the end of the duration.
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
        // A correction that was made before ends first.
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

/// Adds two numbers; saturates.
private func sum(_ left: Int64, _ right: Int64) -> Int64 {
  WallClockTime(nanoseconds: left).advanced(by: right).nanoseconds
}

/// The distance on a sphere of the earth's mean radius, in meters: within 0.6 % of the true one.
private func distance(_ from: Coordinate, _ to: Coordinate) -> Double {
  let radians = Double.pi / 180
  let north = Double.sin((to.latitude - from.latitude) * radians / 2)
  let east = Double.sin((to.longitude - from.longitude) * radians / 2)
  let chord =
    north * north + Double.cos(from.latitude * radians) * Double.cos(to.latitude * radians) * east
    * east
  return 2 * 6_371_008.8 * Double.asin(min(1, chord.squareRoot()))
}

/// Consecutive inputs of a track with one distance from the line of time to the track's clock.
struct TrackRun: Sendable {
  var count: Int
  var wallClockOffset: WallClockOffset
}
