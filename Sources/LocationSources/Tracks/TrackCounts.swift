/// The numbers of what a recorded track holds, and of what was refused or is strange about it.
package struct TrackCounts: Hashable, Sendable {
  /// NMEA sentences, track points of GPX or lines of gpsd, used or not.
  package var records = 0
  /// Fixes that were delivered.
  package var fixes = 0
  /// Compass readings that were delivered.
  package var compassReadings = 0
  /// Bytes between NMEA sentences that are not line ends: packets of binary protocols and comments.
  package var foreignBytes = 0
  private var oddities = [Int](repeating: 0, count: TrackOddity.allCases.count)

  package init() {}

  /// How often something was refused or strange for a reason.
  package internal(set) subscript(oddity: TrackOddity) -> Int {
    get { oddities[Int(oddity.rawValue)] }
    set { oddities[Int(oddity.rawValue)] = newValue }
  }

  /// Adds another track's counts.
  package static func += (left: inout Self, right: Self) {
    left.records += right.records
    left.fixes += right.fixes
    left.compassReadings += right.compassReadings
    left.foreignBytes += right.foreignBytes
    for oddity in TrackOddity.allCases { left[oddity] += right[oddity] }
  }
}

/// Why a part of a track was not delivered, or is strange.
package enum TrackOddity: UInt8, CaseIterable, Sendable {
  // Refused

  /// The checksum of an NMEA sentence is wrong.
  case badChecksum
  /// An NMEA sentence has no checksum though others of the track have one.
  case missingChecksum
  /// A field of a sentence, a point or a message has a value that the format does not allow, or is missing.
  case malformed
  /// A sentence or a line is longer than any is read.
  case tooLong
  /// A route point or a waypoint of GPX, which a receiver need not have visited.
  case notRecorded
  /// An epoch for which the receiver states that it has no fix.
  case noFix
  /// A fix of the time of the fix before it.
  case duplicate
  /// A compass reading from true north where the declination is not known.
  case unknownDeclination
  /// A report of a second receiver.
  case otherReceiver

  // Refused where the format is GPX or gpsd JSON, delivered where it is NMEA

  /// A fix without a date. An NMEA track that never states one begins on 1970-01-01.
  case undated

  // Delivered

  /// A date that changed a second too late or too early at midnight, and was corrected.
  case lateDate
  /// A date of NMEA before the one before it, or more than a year behind.
  case dateJump
  /// A step of 1024 weeks, which the time was corrected by.
  case weekRollover
  /// A step back of more than a second: the time goes on from where it was.
  case stepBack
  /// A time at most a second before the latest: it is held at that.
  case disordered
  /// No fix for more than ten seconds, and for more than three times as long as before.
  case gap
  /// A fix that cannot be reached from the fix before it at 350 m/s, both accuracies considered.
  case jump
}
