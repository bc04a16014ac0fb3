/// What libFuzzer calls for every input: hands the bytes to the entry's `check`.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer's bytes live during the call; a copy of exactly their length lets AddressSanitizer
  // see a read past them.
  check(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// Stops the run, and keeps the input, unless something holds.
func require(
  _ holds: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !holds { fatalError(message(), file: file, line: line) }
}

/// Hands out an input piece by piece; what is past its end is zero.
struct Feed {
  private let bytes: [UInt8]
  private var next = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isEmpty: Bool { next >= bytes.count }

  mutating func byte() -> UInt8 {
    guard next < bytes.count else { return 0 }
    defer { next += 1 }
    return bytes[next]
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, next + count)
    defer { next = end }
    return Array(bytes[next..<end])
  }

  mutating func rest() -> [UInt8] {
    bytes(bytes.count)
  }

  mutating func word() -> UInt64 {
    (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) }
  }
}

/// A number drawn from the bytes, so that the same input always asks the same questions.
func hash(_ bytes: [UInt8]) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return (hash ^ hash >> 31) &* 0x9E37_79B9_7F4A_7C15
}
