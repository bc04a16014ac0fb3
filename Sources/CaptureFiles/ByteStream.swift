/// The bytes of a file or pipe in one buffer, decompressed where they are gzip.
///
/// The buffer is 576 KiB: 64 KiB more than the longest record, read 256 KiB at a time.
@safe
package struct ByteStream: ~Copyable {
  static let readBytes = 256 * 1024
  private static let capacity = 2 * longestPacket + 64 * 1024

  /// Where the first unread byte stands in the (decompressed) data.
  package private(set) var offset = 0

  private let file: FileSource
  private var gzip: GzipSource?
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0

  /// Creates a stream of an open file.
  package init(_ file: FileSource) {
    self.file = file
    unsafe buffer = .allocate(byteCount: Self.capacity, alignment: 16)
  }

  deinit { unsafe buffer.deallocate() }

  /// The file's name.
  package var name: String { file.name }

  /// How many bytes of the file have been read.
  package var bytesRead: Int { file.bytesRead }

  /// The bytes that are there and unread.
  package var unread: RawSpan {
    @_lifetime(borrow self)
    get {
      // Only initialised bytes, and no longer than the buffer lives.
      let bytes = unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  /// Passes over bytes that are there.
  package mutating func consume(_ count: Int) {
    start += count
    offset += count
  }

  /// Passes over bytes of which only some may be there, and returns how many are still to come.
  mutating func pass(_ count: Int) -> Int {
    let here = min(count, end - start)
    consume(here)
    return count - here
  }

  /// Reads more behind the bytes that are there.
  package mutating func fill() throws(CaptureError) -> FileSource.Read {
    if start > 0 {
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      end -= start
      start = 0
    }
    let room = unsafe UnsafeMutableRawBufferPointer(
      rebasing: buffer[end..<min(end + Self.readBytes, buffer.count)])
    let read =
      if let gzip { unsafe try gzip.read(into: room) } else { unsafe try file.read(into: room) }
    guard case .bytes(let count) = read else { return read }
    end += count
    if gzip == nil, offset == 0, end >= 2, unsafe buffer[0] == 0x1F && buffer[1] == 0x8B {
      // A pipe may have brought the first byte alone: all that has come so far is compressed.
      unsafe gzip = GzipSource(file, head: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
      end = 0
      return try fill()
    }
    return read
  }

  /// Waits until more may be there, for a tenth of a second at most.
  package func wait() { file.wait() }
}
