public import Foundation

/// Whether a condition is met.
@frozen
public enum CLMonitoringState: UInt, Sendable {
  /// Not known, or not yet.
  case unknown = 0
  /// It is met: the device is inside.
  case satisfied = 1
  /// It is not met: the device is outside.
  case unsatisfied = 2
  /// It is not watched; the event says why.
  case unmonitored = 3
}

extension CLMonitor {
  /// What became of a condition, and when.
  public struct Event: Sendable {
    /// Whether a condition is met.
    public typealias State = CLMonitoringState

    /// The name under which the condition was added.
    public let identifier: String
    /// The most exact condition that is met: for beacons, the identity of the one that was heard.
    public let refinement: (any CLCondition)?
    /// Whether the condition is met.
    public let state: State
    /// When that began.
    public let date: Date
    /// Whether only inexact places are known; `false` here.
    public let accuracyLimited: Bool
    /// Whether location services are refused to this app; `false` here, ask a manager.
    public let authorizationDenied: Bool
    /// Whether location services of this device are off; `false` here, ask a manager.
    public let authorizationDeniedGlobally: Bool
    /// Whether the user is being asked; `false` here.
    public let authorizationRequestInProgress: Bool
    /// Whether location services are restricted for this app; `false` here, ask a manager.
    public let authorizationRestricted: Bool
    /// Whether more conditions were added than can be watched.
    public let conditionLimitExceeded: Bool
    /// Whether conditions of this kind cannot be watched here.
    public let conditionUnsupported: Bool
    /// Whether the app is not enough in use; `false` here.
    public let insufficientlyInUse: Bool
    /// Whether the state of the condition cannot be kept; `false` here, it is remarked instead.
    public let persistenceUnavailable: Bool
    /// Whether a service session is needed; `false` here.
    public let serviceSessionRequired: Bool

    /// Makes an event.
    package init(
      identifier: String, state: State, date: Date, refinement: (any CLCondition)? = nil,
      accuracyLimited: Bool = false, authorizationDenied: Bool = false,
      authorizationDeniedGlobally: Bool = false, authorizationRequestInProgress: Bool = false,
      authorizationRestricted: Bool = false, conditionLimitExceeded: Bool = false,
      conditionUnsupported: Bool = false, insufficientlyInUse: Bool = false,
      persistenceUnavailable: Bool = false, serviceSessionRequired: Bool = false
    ) {
      self.identifier = identifier
      self.refinement = refinement
      self.state = state
      self.date = date
      self.accuracyLimited = accuracyLimited
      self.authorizationDenied = authorizationDenied
      self.authorizationDeniedGlobally = authorizationDeniedGlobally
      self.authorizationRequestInProgress = authorizationRequestInProgress
      self.authorizationRestricted = authorizationRestricted
      self.conditionLimitExceeded = conditionLimitExceeded
      self.conditionUnsupported = conditionUnsupported
      self.insufficientlyInUse = insufficientlyInUse
      self.persistenceUnavailable = persistenceUnavailable
      self.serviceSessionRequired = serviceSessionRequired
    }
  }

  /// A condition and what last became of it.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// The last event that the app was given of it.
    public let lastEvent: Event

    /// Makes a record.
    package init(condition: any CLCondition, lastEvent: Event) {
      (self.condition, self.lastEvent) = (condition, lastEvent)
    }
  }

  /// The events of a monitor, as they come.
  public struct Events: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = Event

    let services: LocationServices
    let monitor: String

    /// Begins to give events, at first those that came while nobody asked.
    public func makeAsyncIterator() -> Iterator {
      Iterator(
        services: services, monitor: monitor,
        signals: services.signals(of: monitor).makeAsyncIterator())
    }

    /// Gives one event after the other.
    public struct Iterator: AsyncIteratorProtocol {
      let services: LocationServices
      let monitor: String
      var signals: AsyncStream<Void>.AsyncIterator
      /// The event that the app deals with now.
      var serial: UInt64?

      /// The next event; `nil` when the task is cancelled.
      ///
      /// - Returns: The event.
      /// - Throws: Nothing now; Apple's may.
      public mutating func next() async throws -> Event? {
        try await next(isolation: nil)
      }

      /// The next event; `nil` when the task is cancelled.
      ///
      /// - Parameter actor: Where it is called from.
      /// - Returns: The event.
      /// - Throws: Nothing now; Apple's may.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> Event? {
        if let serial { services.acknowledge(serial) }
        serial = nil
        // What nobody takes, because he broke off, is there for who iterates next.
        while true {
          if let delivery = services.takeEvent(of: monitor) {
            serial = delivery.serial
            return delivery.event
          }
          guard await signals.next(isolation: actor) != nil else { return nil }
        }
      }
    }
  }
}
