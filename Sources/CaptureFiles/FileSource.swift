import Glibc
import SystemPackage

package final class FileSource {
  package enum Read {
    case bytes(Int)
    case nothing
    case end
  }

  package let name: String
  /// The size in bytes; `nil` for a pipe.
  package let size: Int?
  private(set) var bytesRead = 0

  private let descriptor: FileDescriptor
  private let closes: Bool
  private var isAtEnd = false
  private var isPipe: Bool { size == nil }

  package init(path: String) throws(CaptureError) {
    closes = path != "-"
    if closes {
      name = path
      do {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
      } catch {
        throw CaptureError(file: path, problem: .cannotOpen(error as? Errno ?? .ioError))
      }
    } else {
      name = "standard input"
      descriptor = .standardInput
    }
    if let end = try? descriptor.seek(offset: 0, from: .end) {
      size = Int(end)
      _ = try? descriptor.seek(offset: 0, from: .start)
    } else {
      size = nil
    }
  }

  deinit {
    if closes { try? descriptor.close() }
  }

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

  /// Waits until a pipe has more bytes, or for a tenth of a second.
  func wait() {
    if isPipe, !isAtEnd {
      _ = descriptor.hasInput(within: 100)
    } else {
      usleep(100_000)
    }
  }
}

extension FileDescriptor {
  /// Returns `true` if a read would not block. Waits at most `milliseconds`, or until a signal.
  fileprivate func hasInput(within milliseconds: CInt) -> Bool {
    var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, milliseconds) > 0
  }
}
