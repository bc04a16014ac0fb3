/// What counts as a stay.
package struct VisitRules: Hashable, Sendable, Codable {
  /// The least duration of a stay, in seconds: 300 unless given.
  package let minimumStay: Double
  /// How far from the center of a stay the receiver may be, in meters: 150 unless given.
  package let radius: Double

  package init(minimumStay: Double = 300, radius: Double = 150) {
    // Shorter than a minute or nearer than 20 m is noise; longer than a day is no visit.
    self.minimumStay = max(60, min(86400, minimumStay))
    self.radius = max(20, min(10_000, radius))
  }

  /// The time that makes one spot, in seconds: a twentieth of the least duration.
  var spot: Double { minimumStay / 20 }
  /// The time of the spots that establish a stay, in seconds.
  var window: Double { minimumStay * 1.1 }
  /// The longest absence that does not end a stay, in seconds: three minutes, and no more than 0.6 of the least
  /// duration.
  var absence: Double { min(180, 0.6 * minimumStay) }
}
