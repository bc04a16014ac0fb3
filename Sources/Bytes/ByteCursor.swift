/// Reads a run of bytes from front to back and cannot leave it.
///
/// Every read checks its bounds and throws ``ParseError`` where the bytes end too soon; none traps,
/// whatever the bytes hold. A failed read moves nothing.
@usableFromInline
package struct ByteCursor: ~Escapable {
  /// All the bytes, read or not.
  @usableFromInline
  package let bytes: RawSpan
  @usableFromInline
  var next: Int
  /// Added to ``position`` in errors: where these bytes stand in what they were cut from.
  @usableFromInline
  package let base: Int

  /// Starts at the first byte, whose offset in errors is the base.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, base: Int = 0) {
    self.bytes = bytes
    self.next = 0
    self.base = base
  }

  /// How many bytes have been read.
  @inlinable @inline(__always)
  package var position: Int { next }

  /// How many bytes are left.
  @inlinable @inline(__always)
  package var remaining: Int { bytes.byteCount &- position }

  /// Where the next byte stands, counted from the outermost bytes.
  @inlinable @inline(__always)
  package var offset: Int { base &+ position }

  /// The bytes that are left, without moving.
  @inlinable @inline(__always)
  package var rest: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: next, count: remaining) }  // `next` never leaves
  }

  /// Reads an unsigned byte.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readUInt8() throws(ParseError) -> UInt8 { try read(as: UInt8.self) }

  /// Reads a signed byte.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readInt8() throws(ParseError) -> Int8 { try read(as: Int8.self) }

  /// Reads an integer whose least significant octet comes first, as HCI and the link layer have it.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readLittleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws(ParseError) -> Value {
    Value(littleEndian: try read(as: type))
  }

  /// Reads an integer whose most significant octet comes first, as btsnoop and iBeacon have it.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readBigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws(ParseError) -> Value {
    Value(bigEndian: try read(as: type))
  }

  /// Splits off the next `count` bytes.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func read(_ count: Int) throws(ParseError) -> RawSpan {
    guard count >= 0, count <= remaining else {
      throw ParseError(.truncated(needed: count, available: remaining), at: offset)
    }
    let start = next
    next = start &+ count
    return unsafe bytes.part(unchecked: start, count: count)  // inside, by the guard
  }

  /// The next `count` bytes, without moving; `nil` where fewer are left.
  ///
  /// Hot loops look at a whole header so, with one check, and then load its fields by constant offsets.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  package func peek(_ count: Int) -> RawSpan? {
    guard count >= 0, count <= remaining else { return nil }
    return unsafe bytes.part(unchecked: next, count: count)  // inside, by the guard
  }

  /// Splits off the next `count` bytes; `nil`, without moving, where fewer are left.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func take(_ count: Int) -> RawSpan? {
    guard let part = peek(count) else { return nil }
    next = next &+ count
    return part
  }

  /// Passes over `count` bytes, if they are there.
  ///
  /// - Returns: Whether they are; otherwise nothing is moved.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func pass(_ count: Int) -> Bool {
    guard count >= 0, count <= remaining else { return false }
    next = next &+ count
    return true
  }

  /// Passes over `count` bytes.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(ParseError) {
    guard count >= 0, count <= remaining else {
      throw ParseError(.truncated(needed: count, available: remaining), at: offset)
    }
    next = next &+ count
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    as type: Value.Type
  ) throws(ParseError) -> Value {
    guard MemoryLayout<Value>.size <= remaining else {
      throw ParseError(
        .truncated(needed: MemoryLayout<Value>.size, available: remaining), at: offset)
    }
    // Any bit pattern is an integer, and the line above keeps the load inside the bytes.
    let value = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: type)
    next = next &+ MemoryLayout<Value>.size
    return value
  }
}
