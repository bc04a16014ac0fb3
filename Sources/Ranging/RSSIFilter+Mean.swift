extension RSSIFilter {
  /// When the last packet was received, in nanoseconds of the caller's clock.
  @inlinable
  package var lastTime: Int64 { latest }

  /// The number of packets received; it stays at its greatest value rather than wrapping.
  @inlinable
  package var count: UInt32 { received }

  /// The learned time between packets as received, in seconds; 0 before the second packet.
  ///
  /// Loss makes it longer than the beacon's own advertising interval.
  @inlinable
  package var interval: Float { gap }

  /// The square root of ``variance``, in dB.
  @inlinable
  package var standardError: Float { variance.squareRoot() }
}
