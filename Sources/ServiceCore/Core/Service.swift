package import Scanning

/// A kind of service that a ``ServiceManager`` offers: a state machine without input and output.
///
/// A service states what it needs of its source (``demand``), turns input into events (``process(_:into:)``) and
/// names what it stores (``name``, ``Registration``, ``RegistrationState``). The manager runs the source, delivers
/// the events to clients in order, and stores what the service asks it to. All functions are called under one lock;
/// none of them may call an application or wait.
package protocol Service: Sendable {
  /// What the service receives.
  associatedtype Input: Sendable
  /// How much of it the service needs.
  associatedtype Demand: Sendable, Codable
  /// A change of the state of the service's source.
  associatedtype Health: SourceHealth
  /// What the service reports.
  associatedtype Event: ServiceEvent
  /// What a client registered; it outlives the process.
  associatedtype Registration: Codable, Sendable
  /// The state of a registration; it outlives the process.
  associatedtype RegistrationState: Codable, Sendable

  /// The name under which registrations are stored; it never changes.
  static var name: String { get }

  /// Whether ``ServiceHost/availability`` asks the source, on the caller's thread. Otherwise it is what the source's states
  /// and ``ServiceHost/updateAvailability()`` showed.
  static var asksForAvailability: Bool { get }

  /// Whether a state of the source decides whether the service can be used. By default each does.
  static func concernsAvailability(_ health: Health) -> Bool

  /// What is needed of the source now; `nil` while no client needs anything.
  var demand: ServiceDemand<Demand>? { mutating get }

  /// Whether the source refuses the application, as a person or their agent decided. By default it does not.
  var isRefusedBySource: Bool { get }

  /// Processes input until something is to be delivered, because clients that receive it may change what they need.
  /// Removes what was processed from the input, and returns whether that was all of it.
  mutating func process(_ input: inout ServiceInput<Self>, into output: inout ServiceOutput<Self>)
    -> Bool

  /// Records that the source rests, because there is no demand.
  mutating func rest()

  /// Whether clients were told of a fault of the source, and of nothing since. By default they never were.
  var hasToldFault: Bool { get }

  /// Records that a source with a fault can be used again, by its name for people, as was found out while it rests.
  mutating func recovered(_ name: String, into output: inout ServiceOutput<Self>)

  /// Records that the source will never deliver any more, and why, as a sentence for people. A recording ends
  /// without a failure.
  mutating func end(
    _ sentence: String, isFailure: Bool, into output: inout ServiceOutput<Self>)

  mutating func setAuthorization(
    _ status: AuthorizationStatus, into output: inout ServiceOutput<Self>)

  /// Removes a client and all that it needed; registrations stay.
  mutating func remove(_ client: ClientIdentifier)

  /// Restores what an earlier process stored.
  mutating func restore(_ stored: [StoredRegistration<Self>])
}

extension Service {
  package static var asksForAvailability: Bool { true }
  package static func concernsAvailability(_ health: Health) -> Bool { true }
  package var isRefusedBySource: Bool { false }
  package var hasToldFault: Bool { false }
  package mutating func recovered(_ name: String, into output: inout ServiceOutput<Self>) {}
}

/// What a service needs of its source, and when it has something to do.
package struct ServiceDemand<Demand: Sendable & Codable>: Sendable, Codable {
  package var demand: Demand
  /// When the service has something to do, unless inputs come before.
  package var deadline: MonotonicTime?

  package init(_ demand: Demand, until deadline: MonotonicTime? = nil) {
    (self.demand, self.deadline) = (demand, deadline)
  }
}

/// What a source delivered at once.
package struct ServiceInput<S: Service>: Sendable {
  package var values: [S.Input]
  /// The number of values that were processed.
  package var processed = 0
  package var progress: SourceProgress<S.Health>
  /// Whether the source delivers a value only when something has changed.
  package var reportsOnlyChanges = false
  /// What was needed of the source; `nil` where that does not matter.
  package var demand: S.Demand?
}

/// A registration as an earlier process stored it.
package struct StoredRegistration<S: Service>: Sendable {
  package let group: ClientGroup
  package let identifier: String
  package let registration: S.Registration
  /// Its latest state; `nil` where none was stored.
  package let state: S.RegistrationState?
}

/// What a service wants delivered and stored, in order.
package struct ServiceOutput<S: Service>: Sendable {
  enum Item: Sendable {
    case event(S.Event, to: Recipients)
    /// An event of a registration: it is stored before it is delivered, with the state that it reports.
    case stored(S.Event, ClientGroup, identifier: String, state: S.RegistrationState?)
    case register(S.Registration, ClientGroup, identifier: String, state: S.RegistrationState?)
    case unregister(ClientGroup, identifier: String)
  }

  enum Recipients: Sendable {
    case client(ClientIdentifier)
    case some(Set<ClientIdentifier>, Set<ClientGroup>)
    case all
  }

  private(set) var items: [Item] = []
  /// Whether an event may go to any client.
  private(set) var needsEveryone = false

  /// Delivers an event to one client.
  package mutating func deliver(_ event: S.Event, to client: ClientIdentifier) {
    items.append(.event(event, to: .client(client)))
  }

  /// Removes what was put out.
  mutating func removeAll() { items = [] }

  /// Delivers an event to one client before all else that was put out.
  mutating func deliverFirst(_ event: S.Event, to client: ClientIdentifier) {
    items.insert(.event(event, to: .client(client)), at: 0)
  }

  /// Delivers an event once to each client that is one of some or in one of some groups.
  package mutating func deliver(
    _ event: S.Event, to clients: Set<ClientIdentifier>, andGroups groups: Set<ClientGroup>
  ) {
    items.append(.event(event, to: .some(clients, groups)))
    needsEveryone = true
  }

  /// Delivers an event to every client.
  package mutating func deliverToAll(_ event: S.Event) {
    items.append(.event(event, to: .all))
    needsEveryone = true
  }

  /// Stores an event with the state that it reports, then delivers it to the clients of its group. Where no client
  /// receives it, it waits for one, also in the next process.
  package mutating func deliver(
    _ event: S.Event, of identifier: String, in group: ClientGroup, state: S.RegistrationState?
  ) {
    items.append(.stored(event, group, identifier: identifier, state: state))
  }

  /// Stores a registration; one of the same identifier is replaced.
  package mutating func register(
    _ registration: S.Registration, as identifier: String, in group: ClientGroup,
    state: S.RegistrationState?
  ) {
    items.append(.register(registration, group, identifier: identifier, state: state))
  }

  /// Removes a registration from the store, with its events that wait.
  package mutating func unregister(_ identifier: String, in group: ClientGroup) {
    items.append(.unregister(group, identifier: identifier))
  }

}
