public import Scanning
import SystemPackage

/// Reads one capture, of whatever format, from its beginning to its end: packets in, sightings out.
///
/// The format is told by the first bytes, never by a name. Memory is the buffer of 576 KiB, whatever
/// the file's size.
public final class CaptureReader {
  /// What a call to ``read(into:)`` came to.
  public enum Progress: Sendable {
    /// There is more to read.
    case more
    /// Everything has been read that is there so far; the file may grow.
    case caughtUp
    /// The capture is read to its end.
    case end
  }

  /// The file's name, or "standard input".
  public let name: String
  /// The file's size in bytes, where it has one.
  public let size: Int?
  private let follows: Bool
  private let file: FileSource
  private var state: CaptureReaderState

  /// Opens a capture.
  ///
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - follows: Whether the file is still being written: its end is then never final.
  public init(path: String, follows: Bool = false) throws(CaptureError) {
    self.follows = follows
    let descriptor: FileDescriptor
    if path == "-" {
      name = "standard input"
      descriptor = .standardInput
    } else {
      name = path
      do {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
      } catch {
        throw CaptureError(file: path, problem: .cannotOpen(error as? Errno ?? .ioError))
      }
    }
    if let end = try? descriptor.seek(offset: 0, from: .end) {
      size = Int(end)
      _ = try? descriptor.seek(offset: 0, from: .start)
    } else {
      size = nil
    }
    file = FileSource(descriptor: descriptor, name: name, closes: path != "-")
    state = CaptureReaderState(stream: ByteStream(file))
  }

  /// Reads until the collector has some sightings, or everything that one read of the file brought
  /// is decoded.
  ///
  /// - Throws: ``CaptureError`` at the first byte that cannot be read. What stood before it is in the
  ///   collector by then.
  public func read(into collector: inout SightingCollector) throws(CaptureError) -> Progress {
    try state.read(into: &collector, follows: follows)
  }

  /// How many bytes of the file have been read.
  public var bytesRead: Int { file.bytesRead }
  /// How often the recording's clock went back.
  public var stepsBack: Int { state.timeline.stepsBack }
  /// The moment of the first packet.
  public var firstTime: Timestamp? { state.timeline.first }
  /// The moment of the latest packet.
  public var time: Timestamp { state.timeline.now }
  /// What to add to a moment of the replay, in nanoseconds, to get the one that the recording shows.
  public var wallClockShift: Int64 { -state.timeline.shift }
  /// What the packets hold, for people; `nil` before the first is read.
  public var formatName: String? { state.formatName }
}
