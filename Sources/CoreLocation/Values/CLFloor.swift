public import Foundation

/// A floor of a building.
open class CLFloor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let number: Int

  /// Which floor: 0 is the ground floor, below it the numbers are negative.
  open var level: Int { number }

  /// Makes the ground floor, for subclasses that override what they need.
  public override init() {
    number = 0
    super.init()
  }

  /// Makes a floor.
  package init(level: Int) {
    number = level
    super.init()
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a floor from a keyed archive.
  ///
  /// - Parameter coder: The archive.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding else { return nil }
    number = coder.decodeInteger(forKey: "CLFloor.level")
    super.init()
  }

  /// Writes the floor to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encode(level, forKey: "CLFloor.level")
  }

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The floor itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String { "CLFloor (level:\(level))" }
}
