package import Clocks

/// The state of the receiver with regard to a circle.
package enum GeofenceState: UInt8, Sendable, Hashable, Codable, CaseIterable {
  case unknown
  case inside
  case outside
}

/// A change of a circle: its kind, time and reason.
package struct GeofenceTransition: Sendable, Hashable, Codable {
  package enum Change: Sendable, Hashable, Codable {
    case enter
    case exit
    /// The state is known for the first time since the circle was added.
    case determined(GeofenceState)

    package var state: GeofenceState {
      switch self {
      case .enter: .inside
      case .exit: .outside
      case .determined(let state): state
      }
    }

    package var isCrossing: Bool {
      if case .determined = self { false } else { true }
    }
  }

  package let change: Change
  /// The time of the fix that decided, or of the end of the wait for another fix.
  package let time: MonotonicTime
  package let region: String
  /// The state before; ``GeofenceState/unknown`` at first unless a state was assumed.
  package let previous: GeofenceState
  package let reason: Reason

  package func renamed(_ identifier: String) -> Self {
    Self(change: change, time: time, region: identifier, previous: previous, reason: reason)
  }

  /// The rule that decided, with its evidence.
  package struct Reason: Sendable, Hashable, Codable {
    package let rule: Rule
    /// The distance from the last fix to the boundary, in meters: negative inside.
    package let distanceOutside: Double
    /// The accuracy radius (68 %) of that fix at its reception, enlarged by its age, in meters.
    package let accuracy: Double
    /// The seconds since the first of the uninterrupted fixes that support the change.
    package let dwell: Double
    /// The number of these fixes.
    package let fixes: Int

    package init(
      rule: Rule, distanceOutside: Double, accuracy: Double, dwell: Double, fixes: Int
    ) {
      (self.rule, self.distanceOutside, self.accuracy) = (rule, distanceOutside, accuracy)
      (self.dwell, self.fixes) = (dwell, fixes)
    }
  }

  /// The rules of ``GeofenceMonitor``.
  package enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    case clear
    case travel
    case stay
    case silence
    /// Nothing changed: the state is the one at the start.
    case request
  }
}
