extension RawSpan {
  /// The integer at an offset, its least significant octet first.
  ///
  /// - Precondition: It lies inside the bytes: the caller has looked at `RawSpan.byteCount`.
  @inlinable @inline(__always)
  package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value {
    // Any bit pattern is an integer.
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The integer at an offset, its most significant octet first.
  ///
  /// - Precondition: It lies inside the bytes: the caller has looked at `RawSpan.byteCount`.
  @inlinable @inline(__always)
  package func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value {
    littleEndian(type, at: offset).byteSwapped
  }

  /// As ``littleEndian(_:at:)``, for hot loops that have just compared the offset with the length:
  /// the standard library's check of the same is not made again.
  @inlinable @inline(__always)
  @unsafe
  package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, unchecked offset: Int
  ) -> Value {
    unsafe Value(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type))
  }

  /// A part of the bytes, for hot loops that have just compared its end with the length.
  @inlinable @inline(__always)
  @unsafe
  @_lifetime(copy self)
  package func part(unchecked start: Int, count: Int) -> RawSpan {
    unsafe extracting(unchecked: Range(uncheckedBounds: (start, start &+ count)))
  }
}
