/// The proximity of a beacon, in Core Location's words and with its raw values.
@frozen
public enum Proximity: Int, Sendable, Hashable, Codable, CaseIterable {
  /// Unknown: not received, or received without a signal strength.
  case unknown = 0
  /// Within reach of a hand.
  case immediate = 1
  /// A few meters away.
  case near = 2
  /// Farther than that.
  case far = 3
}
