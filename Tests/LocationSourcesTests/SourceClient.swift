import LocationSources
import Positioning
import Scanning
import TestSupport

/// A client of a source, which keeps what it received.
final class SourceClient {
  let source: any LocationSource
  var demand = LocationDemand(fixes: .init(accuracy: 0, interval: 0, distance: 0))
  private(set) var inputs: [PositionInput] = []
  private(set) var health: [LocationHealth] = []
  private(set) var progress: [LocationProgress] = []

  init(_ source: any LocationSource) { self.source = source }

  var fixes: [Fix] { inputs.compactMap { if case .fix(let fix) = $0 { fix } else { nil } } }
  var readings: [CompassReading] {
    inputs.compactMap { if case .compass(let reading) = $0 { reading } else { nil } }
  }
  var conditions: [LocationHealth.Condition] { health.map(\.condition) }

  /// Receives until a condition holds; only what never comes fails.
  func receive(until condition: () throws -> Bool) throws -> Bool {
    var new: [PositionInput] = []
    return try eventually {
      let progress = try source.receive(for: demand, until: nil, into: &new)
      inputs += new
      health += progress.health
      self.progress.append(progress)
      return try condition()
    }
  }

  /// Receives until a state is reported after what was reported before.
  func receive(until condition: LocationHealth.Condition) throws -> Bool {
    let before = health.count
    return try receive { health.dropFirst(before).contains { $0.condition == condition } }
  }

  func forget() { (inputs, health, progress) = ([], [], []) }
}
