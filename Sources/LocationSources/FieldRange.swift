/// The valid ranges of a fix's fields, for every source.
enum FieldRange {
  /// Meters above mean sea level or the ellipsoid.
  static let altitude = -20_000.0...20_000_000
  /// Meters from the ellipsoid up to mean sea level.
  static let separation = -1000.0...1000
  static let speed = 0.0...1000
  /// Degrees, which ``bearing(_:)`` normalizes.
  static let course = -360.0...720
  static let dilution = 0.0...1000
  /// Meters, meters per second or degrees.
  static let error = 0.0...1e8
  /// The smallest credible error of a receiver. A lower value means that the error is unknown.
  static let smallestError = 0.001
}

extension Double {
  func within(_ range: ClosedRange<Double>) -> Double? { range.contains(self) ? self : nil }
}
