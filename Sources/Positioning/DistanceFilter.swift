/// The fixes of a standard location service that its client receives: the first, and each at least
/// the distance away from the last delivered one, or twice as accurate (``better``).
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
