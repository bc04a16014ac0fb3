/// The activity of a location client while it moves.
package enum ActivityType: String, Hashable, Sendable, Codable, CaseIterable {
  case other
  case automotiveNavigation
  case fitness
  case otherNavigation
  case airborne
}
