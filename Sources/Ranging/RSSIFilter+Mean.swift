extension RSSIFilter {
  /// The time of the last packet, in nanoseconds of the caller's clock.
  @inlinable
  package var lastTime: Int64 { latest }

  /// The number of packets received, which saturates.
  @inlinable
  package var count: UInt32 { received }

  /// The mean time between received packets, in seconds, which grows with loss; 0 before the
  /// second.
  @inlinable
  package var interval: Float { gap }

  /// The square root of ``variance``, in dB.
  @inlinable
  package var standardError: Float { variance.squareRoot() }
}
