package import LocationSources
package import Records

package struct TrackSummary {
  package var file: String
  package var counts: TrackCounts

  package init(file: String, counts: TrackCounts) { (self.file, self.counts) = (file, counts) }

  package var sentence: String {
    var parts = [counted(counts.records, "record"), counted(counts.fixes, "fix", "fixes")]
    if counts.compassReadings > 0 {
      parts.append(counted(counts.compassReadings, "compass reading"))
    }
    return parts.joined(separator: ", ")
  }

  /// Returns the discarded items with the reasons and, if wanted, what was delivered but strange.
  package func remarks(includesDelivered: Bool = true) -> [String] {
    var remarks: [String] = []
    func add(_ start: String, _ oddities: [TrackOddity]) {
      let parts = oddities.filter { counts[$0] > 0 }.map { $0.explanation(of: counts[$0]) }
      if !parts.isEmpty { remarks.append(start + ": " + parts.joined(separator: ", ")) }
    }
    add("discarded", TrackOddity.allCases.filter(\.isDiscarded))
    if includesDelivered {
      add("strange", TrackOddity.allCases.filter { !$0.isDiscarded })
      if counts.foreignBytes > 0 {
        remarks.append(
          "\(counted(counts.foreignBytes, "byte")) between its sentences are of no sentence")
      }
    }
    return remarks
  }

  /// The sentence for a track without a fix or compass reading; `nil` for others.
  package var noFix: String? {
    guard counts.fixes == 0, counts.compassReadings == 0 else { return nil }
    let reasons = remarks(includesDelivered: false).map { "; " + $0 }.joined()
    return "beaconscan: \(file): no fix in \(counted(counts.records, "record"))\(reasons)"
  }

  package static func fields<Line>(
    of summary: @escaping @Sendable (Line) -> TrackSummary
  ) -> [Field<Line>] {
    [
      Field("file", .text) { summary($0).file },
      Field("records", .count) { summary($0).counts.records },
      Field("fixes", .count) { summary($0).counts.fixes },
      Field("compassReadings", .count) { summary($0).counts.compassReadings },
      Field("foreignBytes", .count) { summary($0).counts.foreignBytes },
      Field("discarded", oddities(\.isDiscarded)) { summary($0).counts },
      Field("strange", oddities { !$0.isDiscarded }) { summary($0).counts },
    ]
  }

  package static let record = RecordType<TrackSummary>("trackSummary", fields { $0 })

  private static func oddities(_ isIncluded: (TrackOddity) -> Bool) -> RecordType<TrackCounts> {
    RecordType(
      nil,
      TrackOddity.allCases.filter(isIncluded).map { oddity in
        Field(oddity.key, .count) { $0[oddity] }
      })
  }
}

extension TrackOddity {
  /// Whether the counted items were discarded. Fixes without a date are so only in some formats.
  var isDiscarded: Bool {
    switch self {
    case .badChecksum, .missingChecksum, .malformed, .tooLong, .notRecorded, .noFix, .duplicate,
      .unknownDeclination, .otherReceiver, .undated:
      true
    case .lateDate, .dateJump, .weekRollover, .stepBack, .disordered, .gap, .jump: false
    }
  }

  var key: String { "\(self)" }

  func explanation(of count: Int) -> String { counted(count, words.singular, words.plural) }

  private var words: (singular: String, plural: String) {
    switch self {
    case .badChecksum: ("sentence with a wrong checksum", "sentences with a wrong checksum")
    case .missingChecksum: ("sentence without its checksum", "sentences without their checksum")
    case .malformed: ("record with an invalid value", "records with an invalid value")
    case .tooLong: ("line that is too long", "lines that are too long")
    case .notRecorded:
      ("point that was planned, not recorded", "points that were planned, not recorded")
    case .noFix: ("moment without a fix", "moments without a fix")
    case .duplicate: ("fix of the same time", "fixes of the same time")
    case .unknownDeclination:
      ("compass reading without its declination", "compass readings without their declination")
    case .otherReceiver: ("fix of another receiver", "fixes of another receiver")
    case .undated: ("fix without a date", "fixes without a date")
    case .lateDate: ("date that changed late", "dates that changed late")
    case .dateJump: ("jump of its date", "jumps of its date")
    case .weekRollover: ("rollover of the GPS week", "rollovers of the GPS week")
    case .stepBack: ("step back of its clock", "steps back of its clock")
    case .disordered: ("fix out of order", "fixes out of order")
    case .gap: ("gap between fixes", "gaps between fixes")
    case .jump: ("jump that nothing can make", "jumps that nothing can make")
    }
  }
}
