public import Foundation

/// The source of a location.
open class CLLocationSourceInformation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let simulated: Bool
  private let external: Bool

  /// A Boolean value that indicates whether the location comes from a simulation or a recording.
  open var isSimulatedBySoftware: Bool { simulated }
  /// A Boolean value that indicates whether the location comes from another device.
  open var isProducedByAccessory: Bool { external }

  /// Creates the information for a location that this device found.
  public override init() {
    (simulated, external) = (false, false)
    super.init()
  }

  /// Creates the information for a location of a simulation or recording, or of another device.
  public init(
    softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool
  ) {
    (simulated, external) = (isSoftware, isAccessory)
    super.init()
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates the information from a keyed archive.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding else { return nil }
    simulated = coder.decodeBool(forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    external = coder.decodeBool(forKey: "CLLocationSourceInformation.isProducedByAccessory")
    super.init()
  }

  /// Writes the information to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encode(isSimulatedBySoftware, forKey: "CLLocationSourceInformation.isSimulatedBySoftware")
    coder.encode(isProducedByAccessory, forKey: "CLLocationSourceInformation.isProducedByAccessory")
  }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "CLLocationSourceInformation (isSimulatedBySoftware:\(isSimulatedBySoftware), "
      + "isProducedByAccessory:\(isProducedByAccessory))"
  }
}
