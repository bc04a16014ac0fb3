/// The activity of a location client while it moves.
package enum ActivityType: Int, Hashable, Sendable, Codable, CaseIterable {
  case other = 1
  case automotiveNavigation
  case fitness
  case otherNavigation
  case airborne
}
