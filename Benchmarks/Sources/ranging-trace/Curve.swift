internal import Ranging
internal import RealModule

/// A filter of signal strengths for the curve: it receives packets, and has a level and its variance, in dBm and dB².
protocol CurveFilter {
  mutating func receive(_ rssi: Double, at seconds: Double)
  /// The level and its variance at a moment, without the shadowing.
  mutating func level(at seconds: Double) -> (mean: Double, variance: Double)
}

/// An exponential mean over seconds; while it is younger, a plain mean.
struct ExponentialMean: CurveFilter {
  let seconds: Double
  private var (mean, weight, last) = (0.0, 0.0, 0.0)
  init(_ seconds: Double) { self.seconds = seconds }
  mutating func receive(_ rssi: Double, at time: Double) {
    weight = weight * Double.exp(-(time - last) / seconds) + 1
    mean += (rssi - mean) / weight
    last = time
  }
  func level(at seconds: Double) -> (mean: Double, variance: Double) { (mean, 9 / weight) }
}

/// An autoregressive mean that gives each packet the same weight, however much time has passed.
struct AutoregressiveMean: CurveFilter {
  let gain: Double
  private var mean = Double.nan
  init(_ gain: Double) { self.gain = gain }
  mutating func receive(_ rssi: Double, at time: Double) {
    mean = mean.isNaN ? rssi : mean + gain * (rssi - mean)
  }
  func level(at seconds: Double) -> (mean: Double, variance: Double) { (mean, 9 * gain) }
}

/// The median of the packets of the last seconds.
struct MovingMedian: CurveFilter {
  let seconds: Double
  private var packets: [(seconds: Double, rssi: Double)] = []
  init(_ seconds: Double) { self.seconds = seconds }
  mutating func receive(_ rssi: Double, at time: Double) { packets.append((time, rssi)) }
  mutating func level(at time: Double) -> (mean: Double, variance: Double) {
    while packets.count > 1, packets[0].seconds < time - seconds { packets.removeFirst() }
    return (median(packets.map(\.rssi)), 2)
  }
}

/// Kalman's filter of a level that drifts, in dB² per second, with noise of 5 dB.
struct DriftFilter: CurveFilter {
  let drift: Double
  private var (mean, variance, last) = (0.0, 1e6, 0.0)
  init(_ drift: Double) { self.drift = drift }
  mutating func receive(_ rssi: Double, at time: Double) {
    variance += drift * (time - last)
    let gain = variance / (variance + 25)
    mean += gain * (rssi - mean)
    variance *= 1 - gain
    last = time
  }
  func level(at seconds: Double) -> (mean: Double, variance: Double) { (mean, variance) }
}

/// The product's filter, with walks whose speed is multiplied by a factor: 1 is the product.
struct RangingFilter: CurveFilter {
  private var filter = RSSIFilter()
  private let law: SignalLaw
  init(_ factor: Double, exponent: Double) {
    law = SignalLaw(
      levelAtOneMeter: -59, exponent: exponent, shadowing: ErrorBudget().shadowing,
      walkingSpeed: factor)
  }
  mutating func receive(_ rssi: Double, at time: Double) {
    filter.update(rssi: Float(rssi), at: Int64(time * 1e9), law: law)
  }
  func level(at time: Double) -> (mean: Double, variance: Double) {
    let level = filter.distanceLevel(at: Int64(time * 1e9), law: law)
    let shadowing = ErrorBudget().shadowing
    return (Double(level.mean), Double(level.variance) - shadowing * shadowing)
  }
}

/// Prints, for each filter, the mean and the median of |log₂| of the factor between distance and truth, and the mean
/// lag, over the families that walk with two packets a second and more. All have the same posterior after them.
func measureCurve(seed: UInt64, runs: Int) {
  let walking: Set<Family.Motion> = [.walk, .pass, .errands]
  let families = families.filter { walking.contains($0.motion) && $0.rate >= 2 }
  let filters: [(name: String, setting: Double, make: (Family) -> any CurveFilter)] =
    [1, 2, 3, 4, 6, 8, 12].map { value in
      ("exponential", value, { _ in ExponentialMean(value) })
    }
    + [0.5, 0.2, 0.1, 0.05, 0.02].map { value in
      ("ARMA", value, { _ in AutoregressiveMean(value) })
    }
    + [1, 2, 4, 6, 8, 12].map { value in ("median", value, { _ in MovingMedian(value) }) }
    + [10, 3, 1, 0.3, 0.1, 0.03].map { value in ("Kalman", value, { _ in DriftFilter(value) }) }
    + [2, 1.4, 1, 0.7, 0.5, 0.3].map { value in
      ("beaconscan", value, { RangingFilter(value, exponent: $0.exponent) })
    }
  print("filter,setting,mean,median,lag")
  for (name, setting, make) in filters {
    var (errors, lags) = ([Double](), [Double]())
    for family in families {
      let calibration = Calibration(
        measuredPower: -59, model: .logDistance(exponent: family.exponent))
      for run in 0..<runs {
        let moments = family.run(seed: seed + UInt64(run))
        var filter = make(family)
        var (due, last) = (1.0, -Double.infinity)
        var values: [(Double, Double)] = []
        for moment in moments {
          while due <= moment.seconds {
            if due > 20, due - last < 5 {
              let level = filter.level(at: due)
              let estimate = calibration.estimate(
                rssi: level.mean, variance: level.variance, advertisedPower: -59)
              errors.append(Double.log2(estimate.distance / moment.distance).magnitude)
              values.append((due, Double.log(estimate.distance)))
            }
            due += 1
          }
          if let rssi = moment.rssi {
            filter.receive(Double(rssi), at: moment.seconds)
            last = moment.seconds
          }
        }
        lags.append(lag(of: values, family, moments))
      }
    }
    let mean = errors.reduce(0, +) / Double(errors.count)
    let lag = lags.reduce(0, +) / Double(lags.count)
    print("\(name),\(setting),\(fixed(mean, 4)),\(fixed(median(errors), 4)),\(fixed(lag, 2))")
  }
}
