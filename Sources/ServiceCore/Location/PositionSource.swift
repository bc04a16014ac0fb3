import Dispatch
import Positioning
import Scanning
import Synchronization

/// A location source as the source of the location service.
final class PositionSource: ServiceSource {
  struct Demand: Sendable, Codable {
    var location: LocationDemand
    /// When the service has something to do, unless something comes before.
    var deadline: MonotonicTime?
  }

  struct Input: Sendable {
    var values: [PositionInput]
    /// The number of values that were processed.
    var processed = 0
    var progress: LocationProgress
  }

  let source: any LocationSource

  init(_ source: any LocationSource) { self.source = source }

  var name: String { source.name }
  var isRecorded: Bool { source.isRecorded }

  private let known = Mutex<(availability: ScannerAvailability, until: UInt64)?>(nil)

  /// Whether the source can be used, for the application's authorization. Daemons are asked twice a minute at most, as a
  /// question may start them.
  ///
  /// A daemon that refuses the application is not available, and the application may use the other services: without demand
  /// the daemon would not be asked again, and the authorization would come and go.
  var availability: ScannerAvailability {
    if source.isRecorded { return source.availability }
    return known.withLock { known in
      let now = DispatchTime.now().uptimeNanoseconds
      if let known, now < known.until { return known.availability }
      var availability = source.availability
      if case .notPermitted(let sentence) = availability { availability = .unavailable(sentence) }
      known = (availability, now + 30_000_000_000)
      return availability
    }
  }

  func receive(_ demand: Demand, reusing used: consuming Input?) throws -> (
    input: Input, isOver: Bool
  ) {
    var values: [PositionInput] = []
    if var used {
      swap(&values, &used.values)
    }
    let progress = try source.receive(for: demand.location, until: demand.deadline, into: &values)
    return (Input(values: values, progress: progress), progress.isOver)
  }

  func wake() { source.wake() }

  func rest() { source.rest() }
}
