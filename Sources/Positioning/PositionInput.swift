/// What a location source delivers.
package enum PositionInput: Hashable, Sendable {
  case fix(Fix)
  case compass(CompassReading)
}
