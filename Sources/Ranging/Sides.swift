public import Scanning

/// Two adapters of one machine that stand at known places, so that beacons have a side.
public struct Sides: Sendable, Hashable, Codable {
  /// The adapter on the left.
  public var left: AdapterName
  /// The adapter on the right.
  public var right: AdapterName

  /// Creates a pair of adapters.
  public init(left: AdapterName, right: AdapterName) { (self.left, self.right) = (left, right) }
}

/// The side of a beacon as two adapters receive it.
@frozen
public enum Side: String, Sendable, Hashable, Codable, CaseIterable {
  /// The adapter on the left receives it clearly stronger.
  case left
  /// Neither adapter receives it clearly stronger.
  case between
  /// The adapter on the right receives it clearly stronger.
  case right
}
