import Bytes
import Glibc
import SystemPackage

/// An open file or pipe: the bytes as they come.
final class FileSource {
  /// What a read brought.
  enum Read {
    case bytes(Int)
    /// Nothing is there yet.
    case nothing
    case end
  }

  let name: String
  /// The number of bytes that have been read.
  private(set) var bytesRead = 0

  private let descriptor: FileDescriptor
  private let isPipe: Bool
  private let closes: Bool
  private var isAtEnd = false

  /// Creates a source of an open file.
  init(descriptor: FileDescriptor, name: String, isPipe: Bool, closes: Bool) {
    self.descriptor = descriptor
    self.name = name
    self.isPipe = isPipe
    self.closes = closes
  }

  deinit {
    if closes { try? descriptor.close() }
  }

  /// Reads what is there, at most as much as there is room for.
  @unsafe
  func read(into room: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Read {
    if isPipe, !descriptor.hasInput(within: 0) { return .nothing }
    do {
      let count = unsafe try descriptor.read(into: room)
      bytesRead += count
      isAtEnd = count == 0
      return count == 0 ? .end : .bytes(count)
    } catch {
      throw CaptureError(
        file: name, problem: .cannotRead(error as? Errno ?? .ioError), offset: bytesRead)
    }
  }

  /// Waits for more: until a pipe has some, or a tenth of a second.
  func wait() {
    if isPipe, !isAtEnd {
      _ = descriptor.hasInput(within: 100)
    } else {
      usleep(100_000)
    }
  }
}

extension FileDescriptor {
  /// Returns whether a read would not wait, after so many milliseconds at most; an interrupt ends the wait, too.
  fileprivate func hasInput(within milliseconds: CInt) -> Bool {
    var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, milliseconds) > 0
  }
}
