public import Foundation
import Positioning

/// The direction of the device. ``CLLocationManager/startUpdatingHeading()`` needs a compass.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let values: Values

  private struct Values {
    var magnetic: CLLocationDirection = 0
    var geographic: CLLocationDirection = -1
    var accuracy: CLLocationDirection = -1
    var field = SIMD3<Double>.zero
    var timestamp = Date()
  }

  /// Degrees clockwise from magnetic north.
  open var magneticHeading: CLLocationDirection { values.magnetic }
  /// Degrees clockwise from true north; negative if it is not valid.
  open var trueHeading: CLLocationDirection { values.geographic }
  /// The possible error of the heading, in degrees; negative if it is not valid.
  open var headingAccuracy: CLLocationDirection { values.accuracy }
  /// The magnetic field along the x axis, in microteslas.
  open var x: CLHeadingComponentValue { values.field.x }
  /// The magnetic field along the y axis, in microteslas.
  open var y: CLHeadingComponentValue { values.field.y }
  /// The magnetic field along the z axis, in microteslas.
  open var z: CLHeadingComponentValue { values.field.z }
  /// The time of the heading.
  open var timestamp: Date { values.timestamp }

  /// Creates a heading without values, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  init(_ heading: Heading) {
    values = Values(
      magnetic: heading.magneticHeading, geographic: heading.trueHeading ?? -1,
      accuracy: heading.accuracy ?? Self.unknownAccuracy, field: heading.field ?? .zero,
      timestamp: Date(heading.timestamp))
    super.init()
  }

  /// The accuracy in degrees if the compass states none: that of an uncalibrated magnetometer.
  static let unknownAccuracy = 25.0

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a heading from a keyed archive; `nil` if there is none, except for a subclass.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding,
      Self.self != CLHeading.self || coder.containsValue(forKey: "CLHeading.magneticHeading")
    else { return nil }
    func number(_ key: String) -> Double { coder.decodeNumber("CLHeading.\(key)") }
    values = Values(
      magnetic: number("magneticHeading"), geographic: number("trueHeading"),
      accuracy: number("headingAccuracy"), field: SIMD3(number("x"), number("y"), number("z")),
      timestamp: coder.decodeDate("CLHeading.timestamp"))
    super.init()
  }

  /// Writes the heading to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encode(magneticHeading, forKey: "CLHeading.magneticHeading")
    coder.encode(trueHeading, forKey: "CLHeading.trueHeading")
    coder.encode(headingAccuracy, forKey: "CLHeading.headingAccuracy")
    for (key, value) in [("x", x), ("y", y), ("z", z)] {
      coder.encode(value, forKey: "CLHeading.\(key)")
    }
    coder.encodeDate(timestamp, "CLHeading.timestamp")
  }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "magneticHeading \(String(format: "%.2f", magneticHeading)) "
      + "trueHeading \(String(format: "%.2f", trueHeading)) "
      + "accuracy \(String(format: "%.2f", headingAccuracy)) "
      + "x \(String(format: "%+.3f", x)) y \(String(format: "%+.3f", y)) "
      + "z \(String(format: "%+.3f", z)) @ \(timestamp)"
  }
}
