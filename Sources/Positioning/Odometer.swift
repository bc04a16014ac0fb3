/// An upper bound of the distance that fixes have moved: the geodesic steps between anchors more
/// than ``step`` apart, so jitter adds nothing. A circle with a margin, the least distance to a
/// change, stays unchanged until the reading reaches its ``key(margin:)``.
struct Odometer: Sendable {
  /// The distance of anchors, in meters, which 0.2 % of the fixes with a jitter of 30 m exceed.
  private static let step = 150.0

  private var anchor: Coordinate?
  private var sum = 0.0
  private var offset = 0.0

  /// The reading, in meters.
  var reading: Double { sum + offset }

  mutating func move(to place: Coordinate) {
    guard let anchor else { return self.anchor = place }
    offset = anchor.distance(to: place)
    guard offset > Self.step else { return }
    (self.anchor, sum, offset) = (place, sum + offset, 0)
  }

  /// Returns the reading before which the receiver cannot have moved by a margin, in meters.
  func key(margin: Double) -> Double { sum + margin - offset }
}
