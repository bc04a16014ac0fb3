/// How hard the sources must work for all clients together.
package struct LocationDemand: Hashable, Sendable, Codable {
  /// The demand for fixes.
  package struct Fixes: Hashable, Sendable, Codable {
    /// The accuracy radius that is good enough, in meters; 0 for the best that there is.
    package var accuracy: Double
    /// The time from one fix to the next, in seconds: the source need not deliver more often.
    package var interval: Double
    /// The movement that the source need not report, in meters; 0 where each fix counts.
    package var distance: Double

    package init(accuracy: Double, interval: Double, distance: Double) {
      self.accuracy = accuracy
      self.interval = interval
      self.distance = distance
    }
  }

  /// `nil` while no fix is needed: the sources of fixes are off.
  package var fixes: Fixes?
  /// Whether the compass is on.
  package var needsHeading: Bool

  package init(fixes: Fixes? = nil, needsHeading: Bool = false) {
    self.fixes = fixes
    self.needsHeading = needsHeading
  }
}
