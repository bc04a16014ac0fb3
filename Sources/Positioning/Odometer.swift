/// An upper bound of how far the fixes have moved.
///
/// It adds geodesic steps from anchor to anchor. The anchor moves only when a fix lies ``step`` away from it, so
/// jitter around one place adds nothing. What was seen at one place with a margin, the distance that must be moved
/// at least until it looks different, is unchanged until the reading reaches the ``key(margin:)`` of that time, by
/// the triangle inequality.
struct Odometer: Sendable {
  /// How far from the anchor the next anchor is, in meters. Of jitter by 30 m along each axis, 0.2 % of the fixes
  /// lie so far from an anchor that jitters too.
  private static let step = 150.0

  private var anchor: Coordinate?
  /// The sum of the steps to the anchor, in meters.
  private var sum = 0.0
  /// The distance from the anchor to the last fix, in meters.
  private var offset = 0.0

  /// The reading, in meters.
  var reading: Double { sum + offset }

  /// Moves to a place.
  mutating func move(to place: Coordinate) {
    guard let anchor else { return self.anchor = place }
    offset = anchor.distance(to: place)
    guard offset > Self.step else { return }
    (self.anchor, sum, offset) = (place, sum + offset, 0)
  }

  /// Returns the reading before which the receiver cannot have moved by a margin from the last fix, in meters.
  func key(margin: Double) -> Double { sum + margin - offset }
}
