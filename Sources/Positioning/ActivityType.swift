/// What the client of a location service does while it moves.
package enum ActivityType: String, Hashable, Sendable, Codable, CaseIterable {
  case other
  case automotiveNavigation
  case fitness
  case otherNavigation
  case airborne
}
