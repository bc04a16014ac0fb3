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
  /// Who iterates over the events.
  var listeners: [UInt64: AsyncStream<Delivery>.Continuation] = [:]
  /// What came while nobody did; at most ``mostWaiting``, then the oldest go.
  var waiting: [Delivery] = []
  private var latestListener: UInt64 = 0

  /// The most events that wait for a listener.
  static let mostWaiting = 4096

  /// Gives an event to who listens, or keeps it.
  mutating func give(_ delivery: Delivery) {
    conditions[delivery.event.identifier]?.lastEvent = delivery.event
    guard listeners.isEmpty else {
      for listener in listeners.values { listener.yield(delivery) }
      return
    }
    if waiting.count == Self.mostWaiting { waiting.removeFirst() }
    waiting.append(delivery)
  }

  /// Takes a new listener, who is given what waits.
  mutating func add(_ listener: AsyncStream<Delivery>.Continuation) -> UInt64 {
    latestListener += 1
    listeners[latestListener] = listener
    for delivery in waiting { listener.yield(delivery) }
    waiting.removeAll()
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
  mutating func take(_ event: StoredEvent, date: (Timestamp) -> Date) {
    give(
      Delivery(
        event: CLMonitor.Event(
          event.transition, identifier: event.key.identifier, date: date(event.transition.time)),
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
