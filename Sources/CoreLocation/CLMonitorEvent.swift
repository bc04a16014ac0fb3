public import Foundation

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
    /// The state of the condition.
    public let state: State
    /// The time at which the state began.
    public let date: Date
    /// The most specific condition that is met; for beacons, the identity of the received beacon.
    public internal(set) var refinement: (any CLCondition)?
    /// A Boolean value that indicates whether more conditions were added than can be watched.
    public internal(set) var conditionLimitExceeded = false
    /// A Boolean value that indicates whether conditions of this kind cannot be watched here.
    public internal(set) var conditionUnsupported = false
    /// A Boolean value that indicates whether only inexact places are known; `false` here.
    public var accuracyLimited: Bool { false }
    /// A Boolean value that is `false` here; ask a manager for a denied authorization.
    public var authorizationDenied: Bool { false }
    /// A Boolean value that is `false` here; ask a manager whether location services are available.
    public var authorizationDeniedGlobally: Bool { false }
    /// A Boolean value that indicates whether the user is being asked; `false` here.
    public var authorizationRequestInProgress: Bool { false }
    /// A Boolean value that is `false` here; ask a manager for a restricted authorization.
    public var authorizationRestricted: Bool { false }
    /// A Boolean value that indicates whether the app is not enough in use; `false` here.
    public var insufficientlyInUse: Bool { false }
    /// A Boolean value that is `false` here: if the state cannot be kept, a diagnostic is logged.
    public var persistenceUnavailable: Bool { false }
    /// A Boolean value that indicates whether a service session is needed; `false` here.
    public var serviceSessionRequired: Bool { false }
  }

  /// A condition and its last event.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// The last event that the app received.
    public let lastEvent: Event
  }

  /// The asynchronous sequence of a monitor's events.
  public typealias Events = CLUpdates<Event>
}
