/// The definition of a stay.
package struct VisitRules: Hashable, Sendable, Codable {
  /// The least duration of a stay, in seconds, from a minute to a day.
  package let minimumStay: Double
  /// The greatest distance from the center of a stay, in meters, from 20 m to 10 km.
  package let radius: Double

  package init(minimumStay: Double = 300, radius: Double = 150) {
    // Less than a minute or 20 m is noise; more than a day is not a visit.
    self.minimumStay = max(60, min(86400, minimumStay))
    self.radius = max(20, min(10_000, radius))
  }

  /// The duration of a spot, in seconds.
  var spot: Double { minimumStay / 20 }
  /// The time of the spots that establish a stay, in seconds.
  var window: Double { minimumStay * 1.1 }
  /// The longest absence that does not end a stay, in seconds.
  var absence: Double { min(180, 0.6 * minimumStay) }
}
