import Glibc

/// A small seeded generator (Steele, Lea and Flood, OOPSLA 2014), so that a failure can be repeated.
package struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 up to 1.
  package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number from one up to another.
  package mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * uniform()
  }

  /// A normal number with deviation 1 (Box and Muller, Ann. Math. Stat. 29, 1958).
  package mutating func normal() -> Double {
    let radius = (-2 * log(1 - uniform())).squareRoot()
    return radius * cos(2 * .pi * uniform())
  }

  /// An exponential number with a mean.
  package mutating func exponential(mean: Double) -> Double { -mean * log(1 - uniform()) }

  /// Random bytes.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
