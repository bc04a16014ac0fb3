package import Scanning

/// The progress of reading a capture, with the counts of its contents.
package struct CaptureStatus: Sendable {
  package var name: String
  package var size: Int?
  /// The format and link types, for display; `nil` before the file header is read.
  package var formatName: String?
  /// Whether packets contain their adapter's number, as those of Linux's monitor do.
  package var namesAdapters = false
  package var bytesRead = 0
  /// The packets with a time stamp up to a second before the previous one, whose time they get.
  package var disordered = 0
  /// The number of longer steps back of the recording's clock. Time continues from there.
  package var stepsBack = 0
  package var firstTime: MonotonicTime?
  package var time = MonotonicTime(nanoseconds: .min)
  /// The offset from the replay's time to the recording's wall-clock time.
  package var wallClockOffset = WallClockOffset.zero
  package var counts = ScanCounts()
}
