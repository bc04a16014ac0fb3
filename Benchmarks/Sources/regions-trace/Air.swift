internal import RealModule

/// Bad times: losses of 10 s in the mean.
struct Spells {
  /// What the air is called in the output.
  var name: String
  /// The share of bad time.
  var share: Double
  /// The share of packets that is lost then.
  var loss: Double

  static let all = [
    Spells(name: "independent", share: 0, loss: 0),
    Spells(name: "5 % of the time 98 % lost", share: 0.05, loss: 0.98),
    Spells(name: "10 % of the time 95 % lost", share: 0.1, loss: 0.95),
    Spells(name: "2 % of the time all lost", share: 0.02, loss: 1),
  ]
}

/// The moments at which the packets of one beacon are received.
struct Air {
  private let interval: Double
  private let loss: Double
  private let losses: Spells
  /// The state of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
  private var state: UInt64
  private var isBad = false
  private var left = 0.0

  init(_ interval: Double, _ loss: Double, _ losses: Spells, seed: UInt64) {
    (self.interval, self.loss, self.losses) = (interval, loss, losses)
    state = seed &* 7919
  }

  mutating func uniform() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
  }

  /// Seconds from one packet that is received to the next: intervals with up to 10 ms added by chance
  /// (Bluetooth Core Specification, Vol 6, Part B, 4.4.2.2.1).
  mutating func gap() -> Double {
    var sum = 0.0
    while true {
      let step = interval + 0.01 * uniform()
      sum += step
      if losses.share > 0 {
        left -= step
        while left <= 0 {
          isBad.toggle()
          let mean = isBad ? 10 : 10 * (1 - losses.share) / losses.share
          left -= mean * Double.log(1 - uniform())
        }
      }
      if uniform() >= (isBad ? max(loss, losses.loss) : loss) { return sum }
    }
  }
}
