/// The fixes of a standard location service that its client receives.
///
/// The first fix is always delivered. Without a distance, each fix is delivered. With one, a fix is
/// delivered if it lies at least that far from the last delivered one, or if its accuracy radius is
/// at most half of that one's (``better``).
package struct DistanceFilter: Hashable, Sendable, Codable {
  /// The least distance from the last delivered fix, in meters; `nil` or 0 deliver each fix.
  package var distance: Double?
  private var delivered: Fix?

  package static let better = 0.5

  package init(distance: Double?) { self.distance = distance }

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
