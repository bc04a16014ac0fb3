extension RSSIFilter {
  /// One side of a cumulative sum: the evidence that the level has moved, and the packets since.
  ///
  /// The three numbers share one vector, so that ending a run is a mask and not a branch that no
  /// processor can foretell.
  @frozen
  @usableFromInline
  struct Run: BitwiseCopyable, Sendable, Equatable {
    @usableFromInline var state: SIMD4<Float> = .zero

    @inlinable
    init() {}

    /// The evidence, in shares of what is believed; the run ends when it is used up.
    @inlinable
    var score: Float { state.x }

    /// The sum of the packets since the run began, in dBm.
    @inlinable
    var sum: Float { state.y }

    /// The packets since the run began.
    @inlinable
    var count: Float { state.z }

    /// Adds a packet's evidence.
    @inlinable
    @inline(__always)
    mutating func add(_ evidence: Float, rssi: Float) {
      let next = state + SIMD4(evidence, rssi, 1, 0)
      state = next.replacing(with: 0, where: SIMD4(repeating: next.x) .<= 0)
    }
  }
}
