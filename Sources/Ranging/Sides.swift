public import Scanning

/// Two adapters of one machine at known places, which give beacons a side.
public struct Sides: Sendable, Hashable, Codable {
  /// The adapter on the left.
  public var left: AdapterName
  /// The adapter on the right.
  public var right: AdapterName

  /// Creates a pair of adapters.
  public init(left: AdapterName, right: AdapterName) { (self.left, self.right) = (left, right) }
}

/// The side of a beacon, from the signals of two adapters.
@frozen
public enum Side: String, Sendable, Hashable, Codable, CaseIterable {
  /// The left adapter receives it clearly stronger.
  case left
  /// Neither adapter receives it clearly stronger.
  case between
  /// The right adapter receives it clearly stronger.
  case right
}
