import RealModule
import TestSupport
import Testing

/// What happens to a beacon's signal on its way, in dB.
struct Fading: Sendable, CustomTestStringConvertible {
  var name: String
  /// Independent from packet to packet.
  var white = 0.0
  /// Slow, with its correlation time in seconds.
  var slow = 0.0
  var slowTime = 1.0
  /// The share of packets 8–18 dB too weak.
  var dips = 0.0
  /// The deviation of each advertising channel's own offset.
  var channels = 0.0
  /// The share of packets lost.
  var loss = 0.0

  var testDescription: String { name }

  /// N(0, 5 dB), as the goals put it.
  static let plain = Fading(name: "N(0, 5 dB)", white: 5)
  /// What recordings of still devices indoors show: 2.5–3.5 dB in all, half of it slow.
  static let indoor = Fading(
    name: "indoor", white: 2, slow: 2, slowTime: 1, dips: 0.03, channels: 1, loss: 0.2)
  /// Worse than most: slower and deeper, 40 % lost.
  static let harsh = Fading(
    name: "harsh", white: 2, slow: 3, slowTime: 2, dips: 0.05, channels: 2, loss: 0.4)
}

/// One beacon's packets, whole dBm as radios report them.
struct Radio {
  var random: SplitMix64
  let fading: Fading
  private var slow: Double
  private var channels: [Double]

  init(_ fading: Fading, seed: UInt64) {
    random = SplitMix64(seed: seed)
    self.fading = fading
    slow = fading.slow * random.normal()
    channels = []
    for _ in 0..<3 { channels.append(fading.channels * random.normal()) }
  }

  /// The signal of a packet some seconds after the last one; nothing if it is lost.
  mutating func packet(after seconds: Double, mean: Double) -> Float? {
    let keep = Double.exp(-seconds / fading.slowTime)
    slow = keep * slow + (1 - keep * keep).squareRoot() * fading.slow * random.normal()
    let noise = fading.white * random.normal()
    let channel = channels[Int(random.uniform() * 3)]
    let dip = random.uniform() < fading.dips ? 8 + 10 * random.uniform() : 0
    guard random.uniform() >= fading.loss else { return nil }
    return Float((mean + slow + noise + channel - dip).rounded())
  }
}

/// Seconds in nanoseconds.
func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

/// The value that a share of the values lies below.
func quantile(_ share: Double, of values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
}
