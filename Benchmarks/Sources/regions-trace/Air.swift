internal import TestSupport

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
  private var random: SplitMix64
  private var isBad = false
  private var left = 0.0

  init(_ interval: Double, _ loss: Double, _ losses: Spells, seed: UInt64) {
    (self.interval, self.loss, self.losses) = (interval, loss, losses)
    random = SplitMix64(seed: seed &* 7919)
  }

  mutating func uniform() -> Double { random.uniform() }

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
          left += random.exponential(mean: mean)
        }
      }
      if uniform() >= (isBad ? max(loss, losses.loss) : loss) { return sum }
    }
  }
}
