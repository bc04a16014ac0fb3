package import CaptureFiles

/// A fault of a recorded track, with its place: one sentence for the person that opened it.
package enum TrackError: Error, Hashable, Sendable {
  /// The file cannot be opened, read or decompressed.
  case file(CaptureError)
  /// There is not a single byte.
  case empty(file: String)
  /// The first bytes are no format's that is read.
  case notATrack(file: String)
  /// The first bytes are not text.
  case binary(file: String)
  /// The first bytes are those of a capture of Bluetooth.
  case capture(file: String)
  /// A GPX file breaks a rule of XML at a byte of the decompressed data.
  case damaged(file: String, rule: String, offset: Int)
  /// A GPX file ends before its root element.
  case cutShort(file: String)
}

extension TrackError: CustomStringConvertible {
  /// What, where, and what to do, in one sentence.
  package var description: String {
    switch self {
    case .file(let error): error.description
    case .empty(let file): "\(file): it is empty, not a recording; record again"
    case .notATrack(let file):
      "\(file): this is not a btsnoop, pcap or pcapng capture and not an NMEA 0183, GPX or gpsd JSON track; "
        + "give one that is"
    case .binary(let file):
      "\(file): this is a binary file and not a capture that is read; if it is a log of a receiver's binary protocol, "
        + "let `gpsdecode` make a track of gpsd JSON of it"
    case .capture(let file):
      "\(file): this is a capture of Bluetooth, which has no locations; give a track of NMEA 0183, GPX or gpsd JSON"
    case .damaged(let file, let rule, let offset):
      "\(file): byte \(offset): \(rule); the track is damaged from here on, what stood before is given"
    case .cutShort(let file):
      "\(file): it ends before </gpx>; the track was cut short, what stood before is given"
    }
  }
}
