// Places by CLMonitor: circles are added as conditions, and their events are followed.
import CoreLocation

public actor CircleWatch {
  public struct Place: Sendable {
    public let name: String
    public let center: CLLocationCoordinate2D
    public let radius: CLLocationDistance

    public init(name: String, center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.name = name
      self.center = center
      self.radius = radius
    }
  }

  public private(set) var diary: [String] = []
  private let makeMonitor: @Sendable () async -> CLMonitor
  private var monitor: CLMonitor?

  public init(makeMonitor: @escaping @Sendable () async -> CLMonitor = { await CLMonitor("watch") })
  {
    self.makeMonitor = makeMonitor
  }

  /// Watches places until so many events have come.
  public func watch(_ places: [Place], events limit: Int) async throws {
    let session = CLServiceSession(authorization: .always)
    defer { session.invalidate() }
    let monitor = await makeMonitor()
    self.monitor = monitor
    for identifier in await monitor.identifiers
    where !places.contains(where: { $0.name == identifier }) {
      await monitor.remove(identifier)
    }
    for place in places where await monitor.record(for: place.name) == nil {
      let condition = CLMonitor.CircularGeographicCondition(
        center: place.center, radius: place.radius)
      await monitor.add(condition, identifier: place.name, assuming: .unsatisfied)
    }
    for try await event in await monitor.events {
      switch event.state {
      case .satisfied: diary.append("in \(event.identifier)")
      case .unsatisfied: diary.append("out \(event.identifier)")
      case .unknown: diary.append("unknown \(event.identifier)")
      case .unmonitored: diary.append("unmonitored \(event.identifier)")
      @unknown default: break
      }
      if diary.count >= limit { break }
    }
  }

  public func radius(of name: String) async -> CLLocationDistance? {
    let record = await monitor?.record(for: name)
    return (record?.condition as? CLMonitor.CircularGeographicCondition)?.radius
  }
}
