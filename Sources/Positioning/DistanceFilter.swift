/// The fixes of a standard location service that its client receives.
///
/// - The first fix is delivered at once, whatever its accuracy.
/// - Without a distance, each fix is delivered.
/// - With one, a fix is delivered if it lies at least so far from the one that was delivered last, or if it is a
///   better reading: its accuracy radius is at most half of that one's (``better``).
package struct DistanceFilter: Hashable, Sendable, Codable {
  /// Meters from the fix that was delivered last; `nil` delivers each fix.
  package var distance: Double?
  /// The fix that was delivered last.
  private var delivered: Fix?

  /// The share of the last accuracy radius that makes a fix a better reading: ½.
  package static let better = 0.5

  /// Creates a filter with a distance in meters; `nil`, and one that is not above 0, deliver each fix.
  package init(distance: Double?) { self.distance = distance }

  /// Receives a fix, and returns whether it is delivered.
  package mutating func receive(_ fix: Fix) -> Bool {
    if let delivered, let distance, distance > 0,
      fix.horizontalAccuracy > Self.better * delivered.horizontalAccuracy,
      fix.place.distance(to: delivered.place) < distance
    {
      return false
    }
    delivered = fix
    return true
  }
}
