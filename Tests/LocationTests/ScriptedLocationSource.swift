import Positioning
import Scanning
import Synchronization
import TestSupport

/// A location source that delivers what a script says, one value at a call, as a recording.
final class ScriptedLocationSource: LocationSource {
  let name = "the script"
  let isRecorded = true
  let hasCompass = true
  private let health: [LocationHealth]
  private let left = Mutex<(values: [PositionInput], demands: [LocationDemand])>(([], []))

  /// Creates a source that reports changes of its state before the first value.
  init(_ values: [PositionInput], health: [LocationHealth] = []) {
    self.health = health
    left.withLock { $0.values = values.reversed() }
  }

  var availability: ScannerAvailability { .available }
  /// The demands, without repetitions.
  var demands: [LocationDemand] { left.withLock { $0.demands } }

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    let (value, isFirst) = left.withLock { rest in
      let isFirst = rest.demands.isEmpty
      if rest.demands.last != demand { rest.demands.append(demand) }
      return (rest.values.popLast(), isFirst)
    }
    inputs = value.map { [$0] } ?? []
    return LocationProgress(
      reached: value?.time, isOver: value == nil, health: isFirst ? health : [])
  }

  func wake() {}
  func rest() {}
}

/// Fixes of a walk, one a second.
func fixes(
  _ count: Int, from start: (Double, Double) = (52.5, 13.4), metersNorth: Double = 0,
  accuracy: Double = 5, second: Int = 0
) -> [PositionInput] {
  guard let origin = Coordinate(latitude: start.0, longitude: start.1) else { return [] }
  return (0..<count).map { index in
    let time = Int64(second + index) * 1_000_000_000
    return .fix(
      Fix(
        time: MonotonicTime(nanoseconds: time),
        timestamp: WallClockTime(nanoseconds: 1_767_000_000_000_000_000 + time),
        place: origin.moved(metersNorth * Double(index), toward: 0), horizontalAccuracy: accuracy))
  }
}
