import SystemPackage

/// An open file or pipe: the bytes as they come.
final class FileSource {
  let name: String
  /// How many bytes have been read.
  private(set) var bytesRead = 0

  private let descriptor: FileDescriptor
  private let closes: Bool

  /// Takes an open file.
  init(descriptor: FileDescriptor, name: String, closes: Bool) {
    self.descriptor = descriptor
    self.name = name
    self.closes = closes
  }

  deinit {
    if closes { try? descriptor.close() }
  }

  /// Reads what is there, at most as much as there is room for.
  ///
  /// - Returns: How many bytes came; 0 at the end.
  @unsafe
  func read(into room: UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int {
    do {
      let count = unsafe try descriptor.read(into: room)
      bytesRead += count
      return count
    } catch {
      throw CaptureError(
        file: name, problem: .cannotRead(error as? Errno ?? .ioError), offset: bytesRead)
    }
  }
}
