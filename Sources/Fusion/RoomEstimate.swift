package import Advertising

/// The place of a beacon: a room of its site, outside, or not known.
package enum Whereabouts: Sendable, Hashable {
  case room(String)
  case outside
  case unknown
}

/// The probabilities of a beacon's places.
package struct RoomEstimate: Sendable, Hashable {
  package struct Candidate: Sendable, Hashable {
    package var place: Whereabouts
    package var probability: Double

    package init(_ place: Whereabouts, probability: Double) {
      self.place = place
      self.probability = probability
    }
  }

  package var beacon: BeaconIdentity
  /// The reported place: a room that passed the entry threshold and not yet the exit threshold.
  package var place: Whereabouts
  /// The second of the last transition.
  package var since: Int64
  /// The last second in which a receiver received the beacon.
  package var received: Int64
  /// The most probable place, and the second one.
  package var best: Candidate
  package var runnerUp: Candidate
  /// The mean of the places in the most probable room, in meters.
  package var position: Site.Point?
  /// The receivers that did not report this second.
  package var missing: [String]

  /// The probability of the reported place.
  package var probability: Double
  /// How much weaker it is received for a day than before in the same places, in dB, if that is
  /// much: its battery may be low.
  package var fading: Double?
}

/// A change of a beacon's reported place.
package struct RoomTransition: Sendable, Hashable {
  /// The second, in which a beacon has one transition at most: with the site and the beacon it
  /// identifies the transition.
  package var second: Int64
  package var former: Whereabouts
  package var estimate: RoomEstimate
}
