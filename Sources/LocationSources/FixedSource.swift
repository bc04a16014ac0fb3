package import Positioning
package import Scanning
import Synchronization

/// A position that a person configured, for a kiosk that stays where it is: one fix at the start, and again when the demand
/// for fixes has changed or the source has rested.
package final class FixedSource: LocationSource {
  private let place: Coordinate
  private let altitude: Double?
  private let accuracy: Double
  private let verticalAccuracy: Double?
  private let wakeSignal = WakeSignal()
  /// The demand that the latest fix was for; `nil` before the first and at rest.
  private let delivered = Mutex<LocationDemand.Fixes?>(nil)
  private let hasReported = Mutex(false)

  /// The accuracy where none is configured, in meters.
  package static let defaultAccuracy = 10.0

  /// Creates a source. The altitude is in meters above mean sea level; the accuracies are the radius and the standard
  /// deviation of the altitude in meters.
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
    (fix.altitude, fix.verticalAccuracy) = (altitude, verticalAccuracy)
    // It stands still.
    fix.speed = 0
    inputs.append(.fix(fix))
    let isFirst = hasReported.withLock { hasReported in
      defer { hasReported = true }
      return !hasReported
    }
    guard isFirst else { return .live() }
    let sentence = "the location is the configured position"
    return .live([LocationHealth(.receiving, at: now, sentence: sentence)])
  }

  package func wake() { wakeSignal.send() }

  package func rest() {
    delivered.withLock { $0 = nil }
    hasReported.withLock { $0 = false }
  }
}
