/// The frequency of gaps by length: four bins for each octave from 16 ms to 17 min, which are the
/// top bits of a floating-point gap.
struct GapHistogram: Sendable, BitwiseCopyable {
  /// The weights of the bins; forgetting makes them fractions.
  private var weights = InlineArray<64, Float>(repeating: 0)

  static let bins = 64
  /// The shortest gap that counts, in seconds: 1/64 s.
  static let shortest: Float = 0x1p-6
  /// The end of the bins, in seconds.
  static let longest: Float = 0x1p10

  /// Returns the bin of a gap in seconds of at least ``shortest``; the last one has no upper limit.
  @inline(__always)
  static func bin(of gap: Float) -> Int {
    min(Int(max(gap, shortest).bitPattern >> 21) - Int(shortest.bitPattern >> 21), bins - 1)
  }

  /// Returns the start and the end of a bin, in seconds.
  static func range(of bin: Int) -> (start: Float, end: Float) {
    let bits = (UInt32(truncatingIfNeeded: bin) << 21) &+ shortest.bitPattern
    return (Float(bitPattern: bits), Float(bitPattern: bits &+ (1 << 21)))
  }

  subscript(bin: Int) -> Float { weights[bin] }

  /// Adds a gap in seconds of at least ``shortest``.
  @inline(__always)
  mutating func add(_ gap: Float) { weights[Self.bin(of: gap)] += 1 }

  mutating func fade(to share: Float) {
    for bin in weights.indices { weights[bin] *= share }
  }
}
