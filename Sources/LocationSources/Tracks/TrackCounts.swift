package struct TrackCounts: Hashable, Sendable {
  /// NMEA sentences, track points of GPX or lines of gpsd, used or not.
  package var records = 0
  package var fixes = 0
  package var compassReadings = 0
  /// Bytes between NMEA sentences, except line ends: binary packets and comments.
  package var foreignBytes = 0
  private var oddities = [Int](repeating: 0, count: TrackOddity.allCases.count)

  package init() {}

  package internal(set) subscript(oddity: TrackOddity) -> Int {
    get { oddities[Int(oddity.rawValue)] }
    set { oddities[Int(oddity.rawValue)] = newValue }
  }
}

package enum TrackOddity: UInt8, CaseIterable, Sendable {
  // Not delivered

  case badChecksum
  /// An NMEA sentence without a checksum after others with one.
  case missingChecksum
  /// A field of a sentence, point or message that is missing or has an invalid value.
  case malformed
  case tooLong
  /// A route point or waypoint of GPX, which may be a planned place.
  case notRecorded
  case noFix
  /// A fix with the time of the previous one.
  case duplicate
  case unknownDeclination
  case otherReceiver

  // Not delivered in GPX and gpsd JSON, delivered in NMEA

  /// A fix without a date. An NMEA track that has no date at all begins on 1970-01-01.
  case undated

  // Delivered

  /// A date that changed a second too late or too early at midnight, and was corrected.
  case lateDate
  /// A date of NMEA before the previous one, or more than a year after it.
  case dateJump
  /// A step of 1024 weeks, for which the time was corrected.
  case weekRollover
  /// A step back of more than a second. Time continues from there.
  case stepBack
  /// A time at most a second before the latest, which it gets.
  case disordered
  /// A time of more than ten seconds, and three times the previous interval, without a fix.
  case gap
  /// A fix that is too far from the previous one for 350 m/s, considering both accuracies.
  case jump
}
