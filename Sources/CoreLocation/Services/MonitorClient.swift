import Advertising
import Foundation
import RegionStorage
import Regions
import Scanning

/// A ``CLMonitor``, as the services know it: its conditions, and events on their way.
struct MonitorClient {
  /// A condition and what last became of it.
  struct Condition {
    var condition: any CLCondition
    var lastEvent: CLMonitor.Event
  }

  /// An event, with the number by which the store knows it.
  struct Delivery: Sendable {
    var event: CLMonitor.Event
    var serial: UInt64?
  }

  var conditions: [String: Condition] = [:]
  /// Who iterates over the events: each is woken when one comes.
  var listeners: [UInt64: AsyncStream<Void>.Continuation] = [:]
  /// What nobody has taken yet; at most ``mostWaiting``, then the oldest go.
  var waiting: [Delivery] = []
  private var latestListener: UInt64 = 0

  /// The most events that wait to be taken.
  static let mostWaiting = 4096

  /// Keeps an event until it is taken.
  mutating func give(_ delivery: Delivery) {
    conditions[delivery.event.identifier]?.lastEvent = delivery.event
    if waiting.count == Self.mostWaiting { waiting.removeFirst() }
    waiting.append(delivery)
    for listener in listeners.values { listener.yield() }
  }

  /// Takes the next event.
  mutating func take() -> Delivery? {
    waiting.isEmpty ? nil : waiting.removeFirst()
  }

  /// Takes a new listener.
  mutating func add(_ listener: AsyncStream<Void>.Continuation) -> UInt64 {
    latestListener += 1
    listeners[latestListener] = listener
    return latestListener
  }

  /// Takes a transition; one that tells the state that was told before is no event.
  ///
  /// - Returns: Whether it is one.
  mutating func tell(
    _ transition: RegionTransition, _ identifier: String, _ date: Date, _ serial: UInt64?
  ) -> Bool {
    let event = CLMonitor.Event(transition, identifier: identifier, date: date)
    let isNews = conditions[identifier].map { $0.lastEvent.state != event.state } ?? false
    if isNews { give(Delivery(event: event, serial: serial)) }
    return isNews
  }

  /// Takes an event that the process before was not there to tell.
  mutating func take(_ event: StoredEvent) {
    give(
      Delivery(
        event: CLMonitor.Event(
          event.transition, identifier: event.key.identifier,
          date: Date(timeIntervalSince1970: Double(event.transition.time.nanoseconds) / 1e9)),
        serial: event.serial))
  }
}

extension MonitorClient.Condition {
  /// A condition as it was kept.
  init(_ kept: StoredRegion) {
    condition = CLMonitor.BeaconIdentityCondition(kept.region.constraint)
    lastEvent = CLMonitor.Event(
      identifier: kept.region.identifier, state: CLMonitor.Event.State(kept.state),
      date: kept.since.map { Date(timeIntervalSince1970: Double($0.nanoseconds) / 1e9) } ?? Date())
  }
}

extension CLMonitor.BeaconIdentityCondition {
  init(_ constraint: BeaconConstraint) {
    let uuid = UUID(constraint.uuid)
    switch (constraint.major, constraint.minor) {
    case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
    case (let major?, nil): self.init(uuid: uuid, major: major)
    default: self.init(uuid: uuid)
    }
  }
}

extension CLMonitor.Event.State {
  init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .satisfied
    case .outside: self = .unsatisfied
    }
  }

  /// What is assumed by it; `nil` where nothing is.
  var assumed: RegionState? {
    switch self {
    case .satisfied: .inside
    case .unsatisfied: .outside
    case .unknown, .unmonitored: nil
    }
  }
}

extension CLMonitor.Event {
  init(_ transition: RegionTransition, identifier: String, date: Date) {
    let beacon = transition.reason.lastSighting?.beacon
    self.init(
      identifier: identifier, state: State(transition.change.state), date: date,
      refinement: beacon.map { beacon in
        CLMonitor.BeaconIdentityCondition(
          uuid: UUID(beacon.uuid), major: beacon.major, minor: beacon.minor)
      })
  }
}
