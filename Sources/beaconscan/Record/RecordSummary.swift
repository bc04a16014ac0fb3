import CaptureFiles
import Records
import Scanning

/// The report of a recording: while it grows, and at its end.
struct RecordSummary {
  var status: RecordingStatus
  var counts: ScanCounts
  /// How many beacons were received.
  var beacons: Int
  /// How long it took, in seconds.
  var seconds: Double
  /// Whether there would have been more to record.
  var isCutShort: Bool

  /// The line on a terminal.
  var progress: String {
    var line = "\(fixed(seconds, 0)) s  \(status.packets) packets  \(Self.size(status.bytes))  "
    if status.files > 1 { line += "\(status.files) files  " }
    line += "\(counts.sightings) sightings  \(beacons) beacons"
    return status.lost > 0 ? line + "  \(status.lost) packets lost" : line
  }

  /// The sentence at the end.
  var sentence: String {
    let files =
      status.files == 1 ? status.file : "\(status.files) files, the last of them \(status.file)"
    let recorded =
      "recorded \(Self.count(status.packets, "packet")), \(status.bytes) bytes, in \(files)"
    // A source is read ahead of what is recorded: what was received may be more.
    if isCutShort { return recorded }
    return recorded
      + "; received \(Self.count(counts.sightings, "sighting")) of \(Self.count(beacons, "beacon"))"
  }

  /// Why not everything was recorded, where it was not.
  var loss: String? {
    guard status.lost > 0 else { return nil }
    let lost = status.lost == 1 ? "1 packet was" : "\(status.lost) packets were"
    return "\(lost) not recorded: see the faults above, and fix them before the next recording"
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }

  private static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<(1 << 20): "\(fixed(Double(bytes) / 0x1p10, 1)) KiB"
    case ..<(1 << 30): "\(fixed(Double(bytes) / 0x1p20, 1)) MiB"
    default: "\(fixed(Double(bytes) / 0x1p30, 1)) GiB"
    }
  }
}
