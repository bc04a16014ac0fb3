import Ranging
import RealModule
import Testing

/// Someone walks from 1 m to 10 m and back: how far does the filter lag behind?
@Suite struct WalkTests {
  struct Walk: Sendable, CustomTestStringConvertible {
    var rate: Double
    var speed: Double
    var exponent: Double
    var fading: Fading
    var testDescription: String { "\(rate) Hz, \(speed) m/s, \(fading.name)" }
  }

  static let walks = [
    Walk(rate: 10, speed: 1, exponent: 2, fading: Fading(name: "N(0, 4 dB)", white: 4)),
    Walk(rate: 5, speed: 1, exponent: 2, fading: .indoor),
    Walk(rate: 5, speed: 0.5, exponent: 2, fading: .indoor),
    Walk(rate: 5, speed: 0.3, exponent: 1.7, fading: .harsh),
  ]

  @Test(arguments: walks)
  func lag(walk: Walk) {
    var lags: [Double] = []
    for seed in 0..<8 { lags.append(lag(of: walk, seed: UInt64(seed))) }
    let mean = lags.reduce(0, +) / Double(lags.count)
    #expect(mean <= 4.5, "mean lag \(mean) s of \(lags)")
  }

  /// The shift of the truth that agrees best with what the filter says.
  private func lag(of walk: Walk, seed: UInt64) -> Double {
    var radio = Radio(walk.fading, seed: seed)
    var filter = RSSIFilter()
    var truth: [Double] = []
    var heard: [Double] = []
    let leg = 9 / walk.speed
    for index in 0..<Int(150 * walk.rate) {
      let time = Double(index) / walk.rate
      let phase = (time / leg).truncatingRemainder(dividingBy: 2)
      let distance = 1 + 9 * (phase < 1 ? phase : 2 - phase)
      let mean = -59 - 10 * walk.exponent * Double.log10(distance)
      if let rssi = radio.packet(after: 1 / walk.rate, mean: mean) {
        filter.update(rssi: rssi, at: nanoseconds(time))
      }
      truth.append(mean)
      heard.append(Double(filter.mean))
    }
    let first = Int(20 * walk.rate)
    var best = (correlation: -2.0, shift: 0)
    for shift in 0...Int(10 * walk.rate) {
      let value = correlation(heard[first...], truth[(first - shift)...])
      if value > best.correlation { best = (value, shift) }
    }
    return Double(best.shift) / walk.rate
  }

  private func correlation(_ a: ArraySlice<Double>, _ b: ArraySlice<Double>) -> Double {
    var (n, sa, sb, saa, sbb, sab) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
      n += 1
      sa += x
      sb += y
      saa += x * x
      sbb += y * y
      sab += x * y
    }
    return (sab - sa * sb / n) / ((saa - sa * sa / n) * (sbb - sb * sb / n)).squareRoot()
  }
}
