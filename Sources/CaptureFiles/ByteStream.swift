/// The bytes of a file or pipe, decompressed if they are gzip. The buffer is 576 KiB, 64 KiB more
/// than the longest record.
@safe
package struct ByteStream: ~Copyable {
  static let readBytes = 256 * 1024
  private static let capacity = 2 * longestPacket + 64 * 1024
  private static let alignment = 64

  package private(set) var offset = 0

  private let file: FileSource
  private var gzip: GzipSource?
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0

  package init(_ file: FileSource) {
    self.file = file
    unsafe buffer = .allocate(byteCount: Self.capacity, alignment: Self.alignment)
  }

  deinit { unsafe buffer.deallocate() }

  package var name: String { file.name }

  package var bytesRead: Int { file.bytesRead }

  package var unread: RawSpan {
    @_lifetime(borrow self)
    get {
      // Only initialized bytes, which live no longer than the buffer.
      let bytes = unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  package mutating func consume(_ count: Int) {
    start += count
    offset += count
  }

  /// Skips bytes of which only some may be in the buffer; returns the number that are not.
  mutating func pass(_ count: Int) -> Int {
    let here = min(count, end - start)
    consume(here)
    return count - here
  }

  package mutating func fill() throws(CaptureError) -> FileSource.Read {
    if start > 0 {
      // The kernel copies faster to the start of a cache line.
      let rest = end - start
      let front = -rest & (Self.alignment - 1)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[front...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      start = front
      end = front + rest
    }
    let room = unsafe UnsafeMutableRawBufferPointer(
      rebasing: buffer[end..<min(end + Self.readBytes, buffer.count)])
    let read =
      if let gzip { unsafe try gzip.read(into: room) } else { unsafe try file.read(into: room) }
    guard case .bytes(let count) = read else { return read }
    end += count
    if gzip == nil, offset == 0, end >= 2, unsafe buffer[0] == 0x1F && buffer[1] == 0x8B {
      // A pipe may have delivered the first byte by itself; all bytes so far are compressed.
      unsafe gzip = GzipSource(file, head: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
      end = 0
      return try fill()
    }
    return read
  }

  package func wait() { file.wait() }
}
