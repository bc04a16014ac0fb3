public import Foundation

/// Who found a location.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let simulated: Bool
  private let external: Bool

  /// Whether a simulation made it up, or a recording was replayed.
  open var isSimulatedBySoftware: Bool { simulated }
  /// Whether a device beside this one found it.
  open var isProducedByAccessory: Bool { external }

  /// Says that this device found it.
  public override init() {
    (simulated, external) = (false, false)
    super.init()
  }

  /// Says who found it.
  ///
  /// - Parameters:
  ///   - isSoftware: Whether it is made up.
  ///   - isAccessory: Whether a device beside this one found it.
  public init(
    softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool
  ) {
    (simulated, external) = (isSoftware, isAccessory)
    super.init()
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads it from a keyed archive.
  ///
  /// - Parameter coder: The archive.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding else { return nil }
    simulated = coder.decodeBool(forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    external = coder.decodeBool(forKey: "CLLocationSourceInformation.isProducedByAccessory")
    super.init()
  }

  /// Writes it to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encode(
      isSimulatedBySoftware, forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    coder.encode(
      isProducedByAccessory, forKey: "CLLocationSourceInformation.isProducedByAccessory")
  }

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The object itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "CLLocationSourceInformation (isSimulatedBySoftware:\(isSimulatedBySoftware), "
      + "isProducedByAccessory:\(isProducedByAccessory))"
  }
}
