import CZlib

/// A source that decompresses a gzip file with zlib, member after member (RFC 1952). Its state is
/// on the heap because zlib keeps a pointer to it.
@safe
final class GzipSource {
  private let file: FileSource
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end: Int
  private var state = State.betweenMembers
  private var failure: CaptureError?

  private enum State {
    case betweenMembers, inMember
    /// The bytes after the last member are not gzip. They are skipped, as by gzip itself.
    case pastEnd
  }

  /// Starts decompressing a file whose head, at most 256 KiB, has already been read.
  @unsafe
  init(_ file: FileSource, head: UnsafeRawBufferPointer) {
    self.file = file
    unsafe input = .allocate(byteCount: ByteStream.readBytes, alignment: 16)
    unsafe input.copyMemory(from: head)
    end = head.count
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    if unsafe czlib_inflate_init_gzip(stream) != Z_OK {
      failure = CaptureError(file: file.name, problem: .badGzip("zlib could not start"))
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
    unsafe input.deallocate()
  }

  @unsafe
  func read(into room: UnsafeMutableRawBufferPointer) throws(CaptureError) -> FileSource.Read {
    while true {
      if let failure { throw failure }
      if start == end {
        switch unsafe try file.read(into: input) {
        case .bytes(let count): (start, end) = (0, count)
        case .nothing: return .nothing
        case .end:
          guard state == .inMember else { return .end }
          throw CaptureError(
            file: file.name, problem: .badGzip("the gzip data ends too early"),
            offset: file.bytesRead)
        }
      }
      if state == .betweenMembers { state = unsafe input[start] == 0x1F ? .inMember : .pastEnd }
      if state == .pastEnd {
        start = end
        continue
      }
      let produced = unsafe inflate(into: room)
      if produced > 0 { return .bytes(produced) }
    }
  }

  @unsafe
  private func inflate(into room: UnsafeMutableRawBufferPointer) -> Int {
    unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
      .advanced(by: start)
    unsafe stream.pointee.avail_in = UInt32(clamping: end - start)
    unsafe stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_out = UInt32(clamping: room.count)
    let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
    unsafe start = end - Int(stream.pointee.avail_in)
    switch status {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END:
      state = .betweenMembers
      unsafe inflateReset(stream)
    default:
      let message = unsafe stream.pointee.msg.map { unsafe String(cString: $0) }
      failure = CaptureError(
        file: file.name, problem: .badGzip("gzip: \(message ?? "error \(status)")"),
        offset: file.bytesRead - (end - start))
    }
    return unsafe room.count - Int(stream.pointee.avail_out)
  }
}
