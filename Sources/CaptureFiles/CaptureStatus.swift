package import Scanning

/// How far a capture has been read, and what was found in it.
package struct CaptureStatus: Sendable {
  /// The file's name, or "standard input".
  package var name: String
  /// The file's size in bytes, where it has one.
  package var size: Int?
  /// Format and link types, for people; `nil` before the file's header is read.
  package var formatName: String?
  /// Whether its packets say by which adapter they came: those of Linux's monitor do.
  package var namesAdapters = false
  /// How many bytes of the file have been read.
  package var bytesRead = 0
  /// How many packets have a time stamp up to a second before the one in front of them; they are
  /// held at that one's time.
  package var disordered = 0
  /// How often the recording's clock was set back by more than that; the time goes on from there.
  package var stepsBack = 0
  /// The moment of the first packet.
  package var firstTime: MonotonicTime?
  /// The moment of the latest packet.
  package var time = MonotonicTime(nanoseconds: .min)
  /// The distance from the replay's time to the recording's wall-clock time.
  package var wallClockOffset = WallClockOffset.zero
  /// What was counted.
  package var counts = ScanCounts()
}
