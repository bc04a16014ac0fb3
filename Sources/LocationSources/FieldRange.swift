/// The values that a field of a fix may have, whatever the source: a field with another value is invalid.
enum FieldRange {
  /// Meters above mean sea level or the ellipsoid.
  static let altitude = -20_000.0...20_000_000
  /// Meters from the ellipsoid up to mean sea level.
  static let separation = -1000.0...1000
  /// Meters per second.
  static let speed = 0.0...1000
  /// Degrees, which ``bearing(_:)`` turns.
  static let course = -360.0...720
  static let dilution = 0.0...1000
  /// Meters, meters per second or degrees.
  static let error = 0.0...1e8
  /// An error below it, a thousandth of a meter, is none that a receiver can have: it does not know it.
  static let smallestError = 0.001
}

extension Double {
  /// Returns the number, or `nil` where it is not in a range.
  func within(_ range: ClosedRange<Double>) -> Double? { range.contains(self) ? self : nil }
}
