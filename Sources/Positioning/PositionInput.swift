package import Clocks

/// A delivery of a location source.
package enum PositionInput: Hashable, Sendable {
  case fix(Fix)
  case compass(CompassReading)

  package var time: MonotonicTime {
    switch self {
    case .fix(let fix): fix.time
    case .compass(let reading): reading.time
    }
  }
}
