package import Scanning

/// A kind of service that a ``ServiceManager`` offers: a state machine without input and output.
///
/// A service states what it needs of its source (``demand``), turns input into events (``process(_:into:)``) and
/// names what it stores (``name``, ``Registration``, ``RegistrationState``). The manager runs the source, delivers
/// the events to clients in order, and stores what the service asks it to. All functions are called under one lock;
/// none of them may call an application or wait.
package protocol Service: Sendable {
  /// The source of the service's input.
  associatedtype Source: ServiceSource
  /// What the service reports.
  associatedtype Event: ServiceEvent
  /// What a client registered; it outlives the process.
  associatedtype Registration: Codable, Sendable
  /// The state of a registration; it outlives the process.
  associatedtype RegistrationState: Codable, Sendable

  /// The name under which registrations are stored; it never changes.
  static var name: String { get }

  /// What is needed of the source now; `nil` while no client needs anything.
  var demand: Source.Demand? { mutating get }

  /// Whether the source refuses the application, as a person or their agent decided. By default it does not.
  var isRefusedBySource: Bool { get }

  /// Processes input until something is to be delivered, because clients that receive it may change what they need.
  /// Removes what was processed from the input, and returns whether that was all of it.
  mutating func process(_ input: inout Source.Input, into output: inout ServiceOutput<Self>) -> Bool

  /// Records that the source rests, because there is no demand.
  mutating func rest()

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
  package var isRefusedBySource: Bool { false }
}

/// A source of input: a radio, a daemon, a recording.
package protocol ServiceSource: AnyObject, Sendable {
  /// What a service needs of the source.
  associatedtype Demand: Sendable, Codable
  /// What the source delivers at once.
  associatedtype Input: Sendable

  /// Its name for people.
  var name: String { get }
  /// Whether time stands still between two calls, as in a recording.
  var isRecorded: Bool { get }
  /// Whether the source can be used now, without a wait for any other process.
  var availability: ScannerAvailability { get }

  /// Finds out anew whether the source can be used, where ``availability`` is an answer that was found out before. It is
  /// called on the thread that receives, and may wait. By default it does nothing.
  func updateAvailability()

  /// Waits for input, two seconds at most or until ``wake()``, and returns it and whether no more will come. The memory of the
  /// latest input that was processed may be used again. An error says why the source will never deliver any more.
  func receive(_ demand: Demand, reusing used: consuming Input?) throws -> (
    input: Input, isOver: Bool
  )

  /// Ends a wait that runs, as the demand may have changed. By default it does nothing.
  func wake()

  /// Rests until the next call of ``receive(_:reusing:)``.
  func rest()
}

extension ServiceSource {
  package func updateAvailability() {}
  package func wake() {}
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
