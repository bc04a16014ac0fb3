public import Scanning
import Synchronization
import SystemPackage

/// Reads one capture, of whatever format, from its beginning to its end: packets in, sightings out.
///
/// The format is told by the first bytes, never by a name. Memory is the buffer of 576 KiB, whatever
/// the file's size.
public final class CaptureReader: Sendable {
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
  private let state: Mutex<CaptureReaderState>

  /// Opens a capture.
  ///
  /// - Parameters:
  ///   - path: The file; `-` is standard input.
  ///   - follows: Whether the file is still being written: its end is then never final.
  ///   - duration: How many nanoseconds of the recording are read, from its first packet on; `nil` for
  ///     all.
  ///   - packetTap: Is handed every HCI packet as it is read; not those of a sniffer.
  /// - Throws: ``CaptureError`` where it cannot be opened.
  public init(
    path: String, follows: Bool = false, duration: Int64? = nil, packetTap: PacketTap? = nil
  ) throws(CaptureError) {
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
    let file = FileSource(descriptor: descriptor, name: name, closes: path != "-")
    state = Mutex(
      CaptureReaderState(stream: ByteStream(file), duration: duration, packetTap: packetTap))
  }

  /// Reads until the collector has some sightings, or everything that one read of the file brought
  /// is decoded.
  ///
  /// - Throws: ``CaptureError`` at the first byte that cannot be read. What stood before it is in the
  ///   collector by then.
  public func read(into collector: inout SightingCollector) throws(CaptureError) -> Progress {
    // The lock's closure can take the collector only as its own.
    var own = SightingCollector(capacity: 0)
    swap(&own, &collector)
    defer { swap(&own, &collector) }
    return try state.withLock { state throws(CaptureError) in
      try state.read(into: &own, follows: follows)
    }
  }

  /// How far the capture has been read, with what the collector has counted.
  public func status(_ counts: ScanCounts) -> CaptureStatus {
    state.withLock { state in
      CaptureStatus(
        name: name, size: size, formatName: state.formatName,
        namesAdapters: state.namesAdapters, bytesRead: state.bytesRead,
        disordered: state.timeline.disordered, stepsBack: state.timeline.stepsBack,
        firstTime: state.timeline.first,
        time: state.timeline.now, wallClockOffset: state.timeline.wallClockOffset, counts: counts)
    }
  }
}
