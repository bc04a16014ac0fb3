package import Clocks

/// What a location source delivers.
package enum PositionInput: Hashable, Sendable {
  case fix(Fix)
  case compass(CompassReading)

  /// When it was received.
  package var time: MonotonicTime {
    switch self {
    case .fix(let fix): fix.time
    case .compass(let reading): reading.time
    }
  }
}
