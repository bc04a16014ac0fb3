import RealModule

/// A random number generator: xoshiro256** (Blackman and Vigna, 2018), seeded by SplitMix64.
///
/// Each sender has its own, so another sender does not change the output of the others.
struct RandomSource {
  private var state: (UInt64, UInt64, UInt64, UInt64)
  private var spare: Double?

  init(seed: UInt64, stream: Int) {
    var first = SplitMix64(state: seed)
    let base = first.next()
    var mixer = SplitMix64(state: base ^ (UInt64(stream) &* 0xD134_2543_DE82_EF95))
    state = (mixer.next(), mixer.next(), mixer.next(), mixer.next())
  }

  mutating func next() -> UInt64 {
    let product = state.1 &* 5
    let result = (product << 7 | product >> 57) &* 9
    let shifted = state.1 << 17
    state.2 ^= state.0
    state.3 ^= state.1
    state.1 ^= state.2
    state.0 ^= state.3
    state.2 ^= shifted
    state.3 = state.3 << 45 | state.3 >> 19
    return result
  }

  mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  mutating func normal() -> Double {
    if let value = spare {
      spare = nil
      return value
    }
    let radius = (-2 * Double.log(1 - uniform())).squareRoot()
    let angle = 2 * Double.pi * uniform()
    spare = radius * Double.sin(angle)
    return radius * Double.cos(angle)
  }
}

private struct SplitMix64 {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

struct Fading {
  let deviation: Double
  let correlation: Double
  var value = 0.0
  var latest: Int64?

  mutating func next(at time: Int64, _ random: inout RandomSource) -> Double {
    let kept: Double =
      if let latest, correlation > 0 {
        Double.exp(-Double(time - latest) / 1e6 / correlation)
      } else {
        0
      }
    value = kept * value + (1 - kept * kept).squareRoot() * deviation * random.normal()
    latest = time
    return value
  }
}
