package import CaptureFiles

package enum TrackError: Error, Hashable, Sendable, CustomStringConvertible {
  case file(CaptureError)
  case empty(file: String), notATrack(file: String), binary(file: String), capture(file: String)
  /// A track in place of a capture.
  case track(file: String)
  /// A byte of a GPX file breaks a rule of XML. The offset is in the decompressed data.
  case damaged(file: String, rule: String, offset: Int)
  case cutShort(file: String)

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
    case .track(let file):
      "\(file): this is a track, which has no beacons; give a btsnoop, pcap or pcapng capture"
    case .damaged(let file, let rule, let offset):
      "\(file): byte \(offset): \(rule); the track is damaged from here on, what stood before is given"
    case .cutShort(let file):
      "\(file): it ends before </gpx>; the track was cut short, what stood before is given"
    }
  }
}
