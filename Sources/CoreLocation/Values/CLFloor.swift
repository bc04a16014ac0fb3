public import Foundation

/// A floor of a building.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let number: Int

  /// The number of the floor: 0 for the ground floor, negative below it.
  open var level: Int { number }

  /// Creates the ground floor, for subclasses that override what they need.
  public override init() {
    number = 0
    super.init()
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a floor from a keyed archive.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding else { return nil }
    number = coder.decodeInteger(forKey: "CLFloor.level")
    super.init()
  }

  /// Writes the floor to a keyed archive.
  open func encode(with coder: NSCoder) { coder.encode(level, forKey: "CLFloor.level") }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String { "CLFloor (level:\(level))" }
}
