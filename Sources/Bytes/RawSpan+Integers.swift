extension RawSpan {
  /// Returns the integer at an offset, least significant octet first.
  ///
  /// - Precondition: The integer lies inside the bytes.
  @inlinable @inline(__always)
  package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value {
    // Any bit pattern is a valid integer.
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Returns the integer at an offset, most significant octet first.
  ///
  /// - Precondition: The integer lies inside the bytes.
  @inlinable @inline(__always)
  package func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value {
    littleEndian(type, at: offset).byteSwapped
  }

  /// Returns the integer at an offset without a bounds check, least significant octet first.
  ///
  /// For hot loops: the caller must have compared the offset with the length.
  @inlinable @inline(__always)
  @unsafe
  package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, unchecked offset: Int
  ) -> Value {
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type))
  }

  package var array: [UInt8] {
    // The bytes are copied.
    unsafe withUnsafeBytes { unsafe Array($0) }
  }

  /// Returns a part of the bytes without a bounds check. The caller must have compared its end with
  /// the length.
  @inlinable @inline(__always)
  @unsafe
  @_lifetime(copy self)
  package func part(unchecked start: Int, count: Int) -> RawSpan {
    unsafe extracting(unchecked: Range(uncheckedBounds: (start, start &+ count)))
  }
}
