public import Foundation
import ServiceCore

/// The state of a condition.
@frozen
public enum CLMonitoringState: UInt, Sendable {
  /// The state is not known yet.
  case unknown = 0
  /// The condition is met: the device is inside.
  case satisfied = 1
  /// The condition is not met: the device is outside.
  case unsatisfied = 2
  /// The condition is not watched; the event has the reason.
  case unmonitored = 3
}

extension CLMonitor {
  /// A change of a condition's state.
  public struct Event: Sendable {
    /// The type of the state.
    public typealias State = CLMonitoringState

    /// The identifier of the condition.
    public let identifier: String
    /// The most specific condition that is met: for beacons, the identity of the beacon that was received.
    public let refinement: (any CLCondition)?
    /// The state of the condition.
    public let state: State
    /// The time at which the state began.
    public let date: Date
    /// A Boolean value that indicates whether only inexact places are known; `false` here.
    public let accuracyLimited: Bool
    /// A Boolean value that indicates whether location services are refused to this app; `false` here, ask a
    /// manager.
    public let authorizationDenied: Bool
    /// A Boolean value that indicates whether location services of this device are off; `false` here, ask a
    /// manager.
    public let authorizationDeniedGlobally: Bool
    /// A Boolean value that indicates whether the user is being asked; `false` here.
    public let authorizationRequestInProgress: Bool
    /// A Boolean value that indicates whether location services are restricted for this app; `false` here, ask a
    /// manager.
    public let authorizationRestricted: Bool
    /// A Boolean value that indicates whether more conditions were added than can be watched.
    public let conditionLimitExceeded: Bool
    /// A Boolean value that indicates whether conditions of this kind cannot be watched here.
    public let conditionUnsupported: Bool
    /// A Boolean value that indicates whether the app is not enough in use; `false` here.
    public let insufficientlyInUse: Bool
    /// A Boolean value that indicates whether the state of the condition cannot be kept; `false` here, a diagnostic
    /// is logged instead.
    public let persistenceUnavailable: Bool
    /// A Boolean value that indicates whether a service session is needed; `false` here.
    public let serviceSessionRequired: Bool

    /// Creates an event.
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

  /// A condition and its last event.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// The last event that the app received.
    public let lastEvent: Event

    /// Creates a record.
    package init(condition: any CLCondition, lastEvent: Event) {
      (self.condition, self.lastEvent) = (condition, lastEvent)
    }
  }

  /// The asynchronous sequence of a monitor's events.
  public struct Events: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = Event

    let monitor: ConditionMonitor

    /// Starts an iteration. It first delivers the events that waited for one.
    public func makeAsyncIterator() -> Iterator { Iterator(monitor: monitor) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
      let monitor: ConditionMonitor
      /// The event that the app processes now.
      private let current = Current()

      private final class Current {
        var delivery: ServiceDelivery?

        deinit { delivery?.finish() }
      }

      init(monitor: ConditionMonitor) { self.monitor = monitor }

      /// Returns the next event; `nil` after the task was canceled.
      public mutating func next() async throws -> Event? { try await next(isolation: nil) }

      /// Returns the next event; `nil` after the task was canceled.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> Event? {
        current.delivery?.acknowledge()
        current.delivery?.finish()
        current.delivery = nil
        return await monitor.nextEvent { current.delivery = $0 }
      }
    }
  }
}
