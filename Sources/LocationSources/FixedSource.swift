package import Positioning
package import Scanning
import Synchronization

/// A configured position: one fix at the start, and after a change of the demand or a rest.
package final class FixedSource: LocationSource {
  private let place: Coordinate
  private let altitude: Double?
  private let accuracy: Double
  private let verticalAccuracy: Double?
  private let wakeSignal = WakeSignal()
  /// The demand of the latest fix; `nil` before the first fix and at rest.
  private let delivered = Mutex<LocationDemand.Fixes?>(nil)
  private let hasReported = Atomic(false)

  /// In meters.
  package static let defaultAccuracy = 10.0

  /// The altitude is above mean sea level; the accuracies are a radius and a standard deviation.
  /// All are in meters.
  package init(
    _ place: Coordinate, altitude: Double? = nil, accuracy: Double = defaultAccuracy,
    verticalAccuracy: Double? = nil
  ) {
    self.place = place
    self.altitude = altitude
    self.accuracy = accuracy
    self.verticalAccuracy = verticalAccuracy
  }

  package var name: String { "the configured position" }
  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool { true }
  package var availability: ScannerAvailability { .available }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    let now = MonotonicTime.now
    let isDue = delivered.withLock { delivered in
      defer { delivered = demand.fixes }
      return demand.fixes != nil && delivered != demand.fixes
    }
    guard isDue else {
      let end = now.advanced(by: 2 * MonotonicTime.nanosecondsPerSecond)
      wakeSignal.wait(nanoseconds: min(deadline ?? end, end).nanoseconds(since: now))
      return .live()
    }
    var fix = Fix(
      time: now, timestamp: WallClockTime.now, place: place, horizontalAccuracy: accuracy)
    fix.altitude = altitude
    fix.verticalAccuracy = verticalAccuracy
    fix.speed = 0
    inputs.append(.fix(fix))
    guard !hasReported.exchange(true, ordering: .acquiringAndReleasing) else { return .live() }
    let sentence = "the location is the configured position"
    return .live([LocationHealth(.receiving, at: now, sentence: sentence)])
  }

  package func wake() { wakeSignal.send() }

  package func rest() {
    delivered.withLock { $0 = nil }
    hasReported.store(false, ordering: .releasing)
  }
}
