/// Something of a site that needs people's attention, for as long as it lasts.
package struct Alarm: Codable, Hashable, Sendable {
  /// The kinds, the most urgent first.
  package enum Kind: String, Codable, CaseIterable, Sendable {
    /// This service receives nothing from the engine, so it knows nothing new of any site.
    case engineLost
    /// The workers publish nothing of the site.
    case siteSilent
    /// The workers have no rooms for the site.
    case siteFault
    case beaconOutsideRooms
    case receiverSilent
    case receptionLost
    /// A receiver reports what cannot be used.
    case reportRefused
    /// A receiver does not use the configuration that it was sent.
    case configurationRefused
    /// A receiver neither uses nor refuses the configuration that it was sent.
    case configurationNotTaken
    case clockDifference
    /// A beacon is received much weaker than before, as with a low battery.
    case signalFading
    /// A receiver reports that the site file does not have.
    case stranger
  }

  /// `SITE/KIND/SUBJECT`.
  package var id: String
  /// The site; `nil` for all.
  package var site: String?
  package var kind: Kind
  /// The receiver or beacon, or the site itself.
  package var subject: String
  /// The name of a beacon that has one.
  package var name: String?
  /// In RFC 3339.
  package var since: String
  package var sentence: String

  init(
    _ kind: Kind, _ subject: String, name: String? = nil, of site: String?, since: String,
    _ sentence: String
  ) {
    id = "\(site ?? "")/\(kind.rawValue)/\(subject)"
    self.site = site
    self.kind = kind
    self.subject = subject
    self.name = name
    self.since = since
    self.sentence = sentence
  }
}

extension Sequence<Alarm> {
  /// The alarms, the most urgent and newest first.
  var ordered: [Alarm] {
    let ranks = Dictionary(
      zip(Alarm.Kind.allCases, Alarm.Kind.allCases.indices), uniquingKeysWith: { first, _ in first }
    )
    return sorted { one, other in
      let (rank, otherRank) = (ranks[one.kind] ?? 0, ranks[other.kind] ?? 0)
      return (rank, other.since, one.id) < (otherRank, one.since, other.id)
    }
  }
}
