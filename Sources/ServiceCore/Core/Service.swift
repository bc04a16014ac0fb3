package import Scanning

/// A kind of service of a ``ServiceManager``: a state machine without input and output.
///
/// It has a ``demand`` for its source, turns input into events (``process(_:into:)``), and names
/// what it stores. The manager runs the source, delivers the events in order, and stores. All
/// functions are called under one lock, and must not call an application or wait.
package protocol Service: Sendable {
  associatedtype Input: Sendable
  associatedtype Demand: Sendable, Codable
  associatedtype Health: SourceHealth
  associatedtype Event: ServiceEvent
  /// A client's registration, which outlives the process.
  associatedtype Registration: Codable, Sendable
  associatedtype RegistrationState: Codable, Sendable

  typealias Output = ServiceOutput<Self>

  /// The name under which registrations are stored, which never changes.
  static var name: String { get }

  /// Whether availability is asked of the source, or else comes from its latest states.
  static var asksForAvailability: Bool { get }

  /// Returns whether a state of the source decides its availability. By default, each one does.
  static func concernsAvailability(_ health: Health) -> Bool

  /// Returns the demand that satisfies two services, which share a source.
  static func union(_ one: Demand, _ other: Demand) -> Demand

  /// Returns whether a state of the source replaces another one, for services that join later.
  static func replaces(_ new: Health, _ old: Health) -> Bool

  /// Returns whether an input of a source that reports only changes holds until the next one. By
  /// default, none does.
  static func lasts(_ input: Input) -> Bool

  /// The demand for the source; `nil` while no client needs it.
  var demand: ServiceDemand<Demand>? { mutating get }

  /// Processes input until there is something to deliver, because clients may then change their
  /// requests. Returns whether all of it is processed.
  mutating func process(_ input: inout ServiceInput<Self>, into output: inout Output) -> Bool

  /// Records that the source rests without demand.
  mutating func rest()

  /// Whether clients' latest report of the source is a fault. By default `false`.
  var hasToldFault: Bool { get }

  /// Records that a resting source, given by its name for people, is available after a fault.
  mutating func recovered(_ name: String, into output: inout Output)

  /// Records that the source has ended, and why, for people. A recording ends without a failure.
  mutating func end(_ sentence: String, isFailure: Bool, into output: inout Output)

  mutating func setAuthorization(_ status: AuthorizationStatus, into output: inout Output)

  mutating func remove(_ client: ClientIdentifier)

  mutating func restore(_ stored: [StoredRegistration<Self>])
}

extension Service {
  package static var asksForAvailability: Bool { true }
  package static func concernsAvailability(_ health: Health) -> Bool { true }
  package static func lasts(_ input: Input) -> Bool { false }

  static func union(
    _ one: ServiceDemand<Demand>, _ other: ServiceDemand<Demand>
  ) -> ServiceDemand<Demand> {
    ServiceDemand(
      union(one.demand, other.demand),
      until: [one.deadline, other.deadline].compactMap(\.self).min())
  }
  package var hasToldFault: Bool { false }
  package mutating func recovered(_ name: String, into output: inout Output) {}
}

package struct ServiceDemand<Demand: Sendable & Codable>: Sendable, Codable {
  package var demand: Demand
  /// The time of the service's next action, if no input comes before.
  package var deadline: MonotonicTime?

  package init(_ demand: Demand, until deadline: MonotonicTime? = nil) {
    self.demand = demand
    self.deadline = deadline
  }
}

package struct ServiceInput<S: Service>: Sendable {
  package var values: [S.Input]
  package var processed = 0
  package var progress: SourceProgress<S.Health>
  /// Whether the source delivers a value only when something has changed.
  package var reportsOnlyChanges = false
  /// The demand on which the source delivered; `nil` if it does not matter.
  package var demand: S.Demand?
}

package struct StoredRegistration<S: Service>: Sendable {
  package let group: ClientGroup
  package let identifier: String
  package let registration: S.Registration
  package let state: S.RegistrationState?
}

/// The events and changes that a service delivers and stores, in order.
package struct ServiceOutput<S: Service>: Sendable {
  enum Item: Sendable {
    case event(S.Event, to: Recipients)
    /// An event of a registration, stored with the state that it reports and then delivered.
    case stored(S.Event, ClientGroup, identifier: String, state: S.RegistrationState?)
    case register(S.Registration, ClientGroup, identifier: String, state: S.RegistrationState?)
    case unregister(ClientGroup, identifier: String)
    /// From here on, the source refuses the application, or does not.
    case refusal(Bool)
  }

  enum Recipients: Sendable {
    case client(ClientIdentifier)
    case some(Set<ClientIdentifier>, Set<ClientGroup>)
    case all
  }

  private(set) var items: [Item] = []

  package mutating func deliver(_ event: S.Event, to client: ClientIdentifier) {
    items.append(.event(event, to: .client(client)))
  }

  mutating func removeAll() { items = [] }

  /// Delivers an event to one client before all other items.
  mutating func deliverFirst(_ event: S.Event, to client: ClientIdentifier) {
    items.insert(.event(event, to: .client(client)), at: 0)
  }

  /// Delivers an event once to each client that is listed or is in a listed group.
  package mutating func deliver(
    _ event: S.Event, to clients: Set<ClientIdentifier>, andGroups groups: Set<ClientGroup>
  ) {
    items.append(.event(event, to: .some(clients, groups)))
  }

  package mutating func deliverToAll(_ event: S.Event) {
    items.append(.event(event, to: .all))
  }

  /// Records that a person or their agent has the source refuse the application, or no longer. The
  /// clients receive the status after earlier events and before later ones.
  mutating func setRefused(_ isRefused: Bool) { items.append(.refusal(isRefused)) }

  /// Stores an event with the state that it reports, then delivers it to its group. Without a
  /// receiving client it waits, also for the next process.
  package mutating func deliver(
    _ event: S.Event, of identifier: String, in group: ClientGroup, state: S.RegistrationState?
  ) {
    items.append(.stored(event, group, identifier: identifier, state: state))
  }

  package mutating func register(
    _ registration: S.Registration, as identifier: String, in group: ClientGroup,
    state: S.RegistrationState?
  ) {
    items.append(.register(registration, group, identifier: identifier, state: state))
  }

  /// Removes a registration and its waiting events from the store.
  package mutating func unregister(_ identifier: String, in group: ClientGroup) {
    items.append(.unregister(group, identifier: identifier))
  }
}
