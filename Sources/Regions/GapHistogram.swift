/// The frequency of gaps of each length: four bins an octave from 16 ms to 17 min.
///
/// The bins are cut at 1, 1¼, 1½ and 1¾ of each power of two, so that a bin is read off the top bits
/// of the gap's floating-point form: no logarithm is taken for a packet.
struct GapHistogram: Sendable, BitwiseCopyable {
  /// Weights, which forgetting makes fractions.
  private var weights = InlineArray<64, Float>(repeating: 0)

  static let bins = 64
  /// The shortest gap that counts, in seconds: 1/64 s.
  static let shortest: Float = 0x1p-6
  /// Where the bins end, in seconds: 1024 s.
  static let longest: Float = 0x1p10

  /// Returns the bin of a gap in seconds that is at least ``shortest``; the last one for all beyond.
  @inline(__always)
  static func bin(of gap: Float) -> Int {
    min(Int(max(gap, shortest).bitPattern >> 21) - Int(shortest.bitPattern >> 21), bins - 1)
  }

  /// Returns where a bin begins and where it ends, in seconds.
  static func range(of bin: Int) -> (start: Float, end: Float) {
    let bits = (UInt32(truncatingIfNeeded: bin) << 21) &+ shortest.bitPattern
    return (Float(bitPattern: bits), Float(bitPattern: bits &+ (1 << 21)))
  }

  /// The weight in a bin.
  subscript(bin: Int) -> Float { weights[bin] }

  /// Counts a gap in seconds that is at least ``shortest``.
  @inline(__always)
  mutating func add(_ gap: Float) { weights[Self.bin(of: gap)] += 1 }

  /// Reduces every weight to a share.
  mutating func fade(to share: Float) {
    for bin in weights.indices { weights[bin] *= share }
  }
}
