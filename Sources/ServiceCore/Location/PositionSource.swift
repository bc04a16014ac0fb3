import Positioning
import Scanning

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
  var availability: ScannerAvailability { source.availability }

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
