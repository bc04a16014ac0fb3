import RealModule
import TestSupport

/// When the packets of one beacon are heard.
struct Air {
  /// Seconds from packet to packet, to which the specification adds up to 10 ms by chance
  /// (Bluetooth Core, Vol 6, Part B, 4.4.2.2.1, advDelay).
  var interval: Double
  /// The share of packets that is lost, in good times and bad.
  var loss: Double
  var badLoss = 0.0
  /// The share of bad time, which comes in losses of 10 s in the mean.
  var badShare = 0.0
  var random: SplitMix64

  private var isBad = false
  private var left = 0.0

  init(interval: Double, loss: Double, badShare: Double = 0, badLoss: Double = 0, seed: UInt64) {
    (self.interval, self.loss) = (interval, loss)
    (self.badShare, self.badLoss) = (badShare, max(loss, badLoss))
    random = SplitMix64(seed: seed &* 0x9E37_79B9)
  }

  /// Seconds from one packet that is heard to the next.
  mutating func gap() -> Double {
    var sum = 0.0
    while true {
      let step = interval + 0.01 * random.uniform()
      sum += step
      if badShare > 0 {
        left -= step
        while left <= 0 {
          isBad.toggle()
          let mean = isBad ? 10 : 10 * (1 - badShare) / badShare
          left -= mean * Double.log(1 - random.uniform())
        }
      }
      if random.uniform() >= (isBad ? badLoss : loss) { return sum }
    }
  }
}
