import Positioning
import Scanning
import Synchronization

/// A location source as the source of the location service.
final class LocationServiceSource: ServiceSource {
  struct Demand: Sendable, Codable {
    var location: LocationDemand
    /// The time at which the service has something to do, unless something comes before.
    var deadline: MonotonicTime?
  }

  struct Input: Sendable {
    var values: [PositionInput]
    /// The number of values that were processed.
    var processed = 0
    var progress: LocationProgress
    /// Indicates whether the source delivers a fix only when the place has changed.
    var reportsOnlyChanges = false
  }

  let source: any LocationSource

  init(_ source: any LocationSource) { self.source = source }

  var name: String { source.name }
  var isRecorded: Bool { source.isRecorded }

  private let known = Mutex<ScannerAvailability?>(nil)

  /// Indicates whether the source can be used, as far as is known: by its latest state, or by
  /// ``updateAvailability()``. Before that it restricts nothing. No daemon is connected to here, so
  /// no caller waits for one.
  ///
  /// A daemon that refuses the application is not available, and the application may use the other
  /// services: without demand nothing would find out that it permits it again, and the
  /// authorization would come and go.
  var availability: ScannerAvailability {
    switch latestAvailability {
    case .notPermitted(let sentence): .unavailable(sentence)
    case let availability: availability
    }
  }

  /// The latest known answer of the source itself.
  var latestAvailability: ScannerAvailability {
    source.isRecorded ? source.availability : known.withLock { $0 } ?? .available
  }

  func updateAvailability() {
    let availability = source.availability
    known.withLock { $0 = availability }
  }

  func receive(_ demand: Demand, reusing used: consuming Input?) throws -> (
    input: Input, isOver: Bool
  ) {
    var values: [PositionInput] = []
    if var used {
      swap(&values, &used.values)
    }
    let progress = try source.receive(for: demand.location, until: demand.deadline, into: &values)
    if let health = progress.health.last(where: { $0.subject == .locations }) {
      known.withLock { $0 = health.availability }
    }
    let input = Input(
      values: values, progress: progress, reportsOnlyChanges: source.reportsOnlyChanges)
    return (input, progress.isOver)
  }

  func wake() { source.wake() }

  func rest() { source.rest() }
}
