public import Scanning

/// How far a capture has been read, and what was found in it.
public struct CaptureStatus: Sendable {
  /// The file's name, or "standard input".
  public var name: String
  /// The file's size in bytes, where it has one.
  public var size: Int?
  /// Format and link types, for people; `nil` before the file's header is read.
  public var formatName: String?
  /// Whether its packets say by which adapter they came: those of Linux's monitor do.
  public var namesAdapters = false
  /// How many bytes of the file have been read.
  public var bytesRead = 0
  /// How many packets have a time stamp up to a second before the one in front of them; they are
  /// held at that one's time.
  public var disordered = 0
  /// How often the recording's clock was set back by more than that; the time goes on from there.
  public var stepsBack = 0
  /// The moment of the first packet.
  public var firstTime: MonotonicTime?
  /// The moment of the latest packet.
  public var time = MonotonicTime(nanoseconds: .min)
  /// The distance from the replay's time to the recording's wall-clock time.
  public var wallClockOffset = WallClockOffset.zero
  /// What was counted.
  public var counts = ScanCounts()
}
