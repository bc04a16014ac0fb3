/// A cursor that reads bytes from front to back and cannot leave them.
///
/// Every read checks its bounds and throws ``ParseError`` if too few bytes are left; none traps. A
/// failed read does not move the cursor.
@usableFromInline
package struct ByteCursor: ~Escapable {
  @usableFromInline
  package let bytes: RawSpan
  @usableFromInline
  var next: Int
  /// The offset of ``bytes`` in the bytes that they were cut from; errors add it to ``position``.
  @usableFromInline
  package let base: Int

  /// Starts at the first byte, whose offset in errors is `base`.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, base: Int = 0) {
    self.bytes = bytes
    self.next = 0
    self.base = base
  }

  /// Starts at a position in the bytes, or at their end if it lies beyond.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, from position: Int) {
    self.bytes = bytes
    next = min(max(0, position), bytes.byteCount)
    base = 0
  }

  @inlinable @inline(__always)
  package var position: Int { next }

  @inlinable @inline(__always)
  package var remaining: Int { bytes.byteCount &- position }

  /// The offset of the next byte in the outermost bytes.
  @inlinable @inline(__always)
  package var offset: Int { base &+ position }

  /// The bytes that are left. Reading this property does not move the cursor.
  @inlinable @inline(__always)
  package var rest: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: next, count: remaining) }  // `next` never leaves
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readUInt8() throws(ParseError) -> UInt8 { try read(as: UInt8.self) }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readInt8() throws(ParseError) -> Int8 { try read(as: Int8.self) }

  /// Reads an integer, least significant octet first, as in HCI and the link layer.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readLittleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws(ParseError) -> Value {
    Value(littleEndian: try read(as: type))
  }

  /// Reads an integer, most significant octet first, as in btsnoop and iBeacon.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func readBigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type
  ) throws(ParseError) -> Value {
    Value(bigEndian: try read(as: type))
  }

  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func read(_ count: Int) throws(ParseError) -> RawSpan {
    guard let part = take(count) else {
      throw ParseError(.truncated(needed: count, available: remaining), at: offset)
    }
    return part
  }

  /// Returns the next `count` bytes without moving, or `nil` if fewer are left.
  ///
  /// Hot loops check the bounds of a whole header once with this, then load its fields at constant
  /// offsets.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  package func peek(_ count: Int) -> RawSpan? {
    guard count >= 0, count <= remaining else { return nil }
    return unsafe bytes.part(unchecked: next, count: count)  // inside, by the guard
  }

  /// Reads the next `count` bytes; returns `nil`, without moving, if fewer are left.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func take(_ count: Int) -> RawSpan? {
    guard let part = peek(count) else { return nil }
    next = next &+ count
    return part
  }

  /// Skips `count` bytes and returns `true`; returns `false`, without moving, if fewer are left.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func pass(_ count: Int) -> Bool {
    take(count) != nil
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(ParseError) {
    _ = try read(count)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    as type: Value.Type
  ) throws(ParseError) -> Value {
    let value = try read(MemoryLayout<Value>.size)
    // Any bit pattern is a valid integer, and the bytes are exactly those of one.
    return unsafe value.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: type)
  }
}
