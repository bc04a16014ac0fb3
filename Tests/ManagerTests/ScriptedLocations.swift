import Glibc
import LocationSources
import Positioning
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// A location source that delivers what a script says, as far as the test allows it, one value at a call.
final class ScriptedLocations: LocationSource {
  struct Broken: Error {}

  let name = "the script"
  let isRecorded: Bool
  let hasCompass: Bool
  private let state = Mutex(State())

  private struct State {
    var script: [PositionInput] = []
    var health: [LocationHealth] = []
    var allowed: Int64 = 0
    var end: Int64?
    var failure: (any Error)?
    var availability = ScannerAvailability.available
    var demands: [LocationDemand?] = []
    var reached: Int64 = -1

    mutating func want(_ demand: LocationDemand?) {
      if demands.last != .some(demand) { demands.append(demand) }
    }
  }

  /// The wall-clock time of the script's beginning, in seconds.
  static let epoch: Int64 = 1_767_000_000

  init(isRecorded: Bool = true, hasCompass: Bool = false) {
    (self.isRecorded, self.hasCompass) = (isRecorded, hasCompass)
  }

  /// The second of the script at a date.
  static func second(_ date: Date) -> String {
    "\(Int64(date.timeIntervalSince1970.rounded()) - epoch)"
  }

  static func time(_ second: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
  }

  static func wallClockTime(_ second: Int) -> WallClockTime {
    WallClockTime(nanoseconds: (epoch + Int64(second)) * 1_000_000_000)
  }

  func add(_ values: [PositionInput]) { state.withLock { $0.script += values } }

  /// Reports a state of the source at once.
  func report(_ condition: LocationHealth.Condition) {
    state.withLock { state in
      let time = MonotonicTime(nanoseconds: max(0, state.reached))
      state.health.append(LocationHealth(condition, at: time, sentence: "it is \(condition)"))
    }
  }

  /// Reports a state of the source together with the values before it, at once.
  func add(_ values: [PositionInput], then condition: LocationHealth.Condition) {
    state.withLock { state in
      guard let last = values.last else { return }
      state.script += values
      state.allowed = max(state.allowed, last.time.nanoseconds)
      state.health.append(
        LocationHealth(
          condition, at: last.time.advanced(by: 1), sentence: "it is \(condition)"))
    }
  }

  /// Lets the script go on until a second.
  func allow(until second: Int) {
    state.withLock { $0.allowed = Int64(second) * 1_000_000_000 }
  }

  /// Lets the script go on until a second, and waits until it is there.
  func play(until second: Int) async {
    allow(until: second)
    await eventually { state.withLock { $0.reached >= $0.allowed && $0.health.isEmpty } }
  }

  /// Ends the script at a second.
  func finish(at second: Int) { state.withLock { $0.end = Int64(second) * 1_000_000_000 } }

  func fail() { state.withLock { $0.failure = Broken() } }

  /// The demands, without repetitions; `nil` for a rest.
  var demands: [LocationDemand?] { state.withLock { $0.demands } }

  var availability: ScannerAvailability {
    get { state.withLock { $0.availability } }
    set { state.withLock { $0.availability = newValue } }
  }

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs = []
    var progress = LocationProgress(
      wallClockOffset: WallClockOffset(from: Self.time(0), to: Self.wallClockTime(0)))
    let isIdle = try state.withLock { state -> Bool in
      state.want(demand)
      if let failure = state.failure { throw failure }
      let hasNews = !state.health.isEmpty
      progress.health = state.health
      state.health = []
      if let next = state.script.first, next.time.nanoseconds <= state.allowed {
        inputs = [next]
        state.script.removeFirst()
        state.reached = max(state.reached, next.time.nanoseconds)
      } else if let end = state.end, end <= state.allowed {
        state.reached = state.allowed
        progress.isOver = true
      } else {
        // What is due at a moment before the next value is done then.
        state.reached = max(state.reached, state.allowed)
      }
      progress.reached = MonotonicTime(nanoseconds: state.reached)
      return inputs.isEmpty && !hasNews
    }
    if isIdle { usleep(2000) }
    return progress
  }

  func wake() {}
  func rest() { state.withLock { $0.want(nil) } }
}

/// Fixes of a walk to the north, one a second.
func walk(
  _ count: Int, from start: (Double, Double) = (52.5, 13.4), metersNorth: Double = 1,
  accuracy: Double = 5, second: Int = 0
) -> [PositionInput] {
  guard let origin = Coordinate(latitude: start.0, longitude: start.1) else { return [] }
  return (0..<count).map { index in
    .fix(
      Fix(
        time: ScriptedLocations.time(second + index),
        timestamp: ScriptedLocations.wallClockTime(second + index),
        place: origin.moved(metersNorth * Double(index), toward: 0), horizontalAccuracy: accuracy))
  }
}

/// A compass reading.
func compass(
  _ degrees: Double, second: Int, accuracy: Double? = 3, field: SIMD3<Double>? = nil
) -> PositionInput {
  .compass(
    CompassReading(
      time: ScriptedLocations.time(second), timestamp: ScriptedLocations.wallClockTime(second),
      magneticHeading: degrees, accuracy: accuracy, field: field))
}
