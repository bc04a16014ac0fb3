package import Clocks

/// Where the receiver is with regard to a circle, as far as is known.
package enum GeofenceState: UInt8, Sendable, Hashable, Codable, CaseIterable {
  /// Not determined yet.
  case unknown
  case inside
  case outside
}

/// A change of a circle: what happened, when and why.
package struct GeofenceTransition: Sendable, Hashable, Codable {
  /// The kinds of changes.
  package enum Change: Sendable, Hashable, Codable {
    /// The boundary was crossed from outside.
    case enter
    /// The boundary was crossed from inside.
    case exit
    /// The state is now known for the first time since the circle was added, or was requested.
    case determined(GeofenceState)

    /// The state after the change.
    package var state: GeofenceState {
      switch self {
      case .enter: .inside
      case .exit: .outside
      case .determined(let state): state
      }
    }

    /// Whether the boundary was crossed.
    package var isCrossing: Bool {
      if case .determined = self { false } else { true }
    }
  }

  /// What happened.
  package let change: Change
  /// When it was decided: the time of the fix that decided, or at which the wait for another fix ended.
  package let time: MonotonicTime
  /// The circle's identifier.
  package let region: String
  /// The state before; ``GeofenceState/unknown`` for the first determination of a circle without an assumed state.
  package let previous: GeofenceState
  /// Why it happened.
  package let reason: Reason

  /// Returns the transition under another identifier of the circle.
  package func renamed(_ identifier: String) -> Self {
    Self(change: change, time: time, region: identifier, previous: previous, reason: reason)
  }

  /// The rule that decided, with its evidence.
  package struct Reason: Sendable, Hashable, Codable {
    package let rule: Rule
    /// The distance from the last fix to the boundary, in meters: negative inside.
    package let distanceOutside: Double
    /// The accuracy of that fix, as it was when the fix was received: the age of the fix is in it. In meters, 68 %.
    package let accuracy: Double
    /// The seconds since the first fix that speaks for the change without one against it.
    package let dwell: Double
    /// The number of those fixes.
    package let fixes: Int

    package init(
      rule: Rule, distanceOutside: Double, accuracy: Double, dwell: Double, fixes: Int
    ) {
      (self.rule, self.distanceOutside, self.accuracy) = (rule, distanceOutside, accuracy)
      (self.dwell, self.fixes) = (dwell, fixes)
    }
  }

  /// The rule that decided.
  package enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// Two fixes lie so far beyond the boundary that no jitter explains it.
    case clear
    /// The fixes beyond the boundary are a path, which jitter would not make.
    case travel
    /// The receiver stays, and the mean of its fixes lies beyond the boundary by much more than their spread.
    case stay
    /// The last fix lies beyond the boundary, and none came since.
    case silence
    /// The state was requested.
    case request
  }
}
