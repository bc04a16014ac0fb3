/// The signal of one beacon at one place, as one adapter receives it: its level for a calibration.
///
/// The first ``maximumPackets`` are kept, a byte each. The level is the location of Student's t
/// distribution with the degrees of freedom of `RSSIFilter`, to which the filter converges there.
package struct PlaceSurvey: Sendable {
  /// A level in dBm and its standard error in dB.
  package struct Level: Sendable, Equatable {
    package var mean: Double
    package var error: Double
  }

  package static let maximumPackets = 8192
  /// The fewest packets that determine a level.
  package static let leastPackets = 20
  /// The packets, the seconds and the standard error of the level, in dB, that are enough.
  package static let (enoughPackets, enoughSeconds, enoughError) = (30, 10.0, 0.5)
  /// The greatest standard error of a usable level, in dB.
  package static let greatestError = 2.0
  /// The greatest change of level, in dB. Beyond it, the beacon moved or somebody passed.
  package static let greatestChange = 4.0
  /// The least number of its standard deviations that a change must have.
  private static let leastDeviations = 3.5

  private var signals: [Int8] = []
  private var first = 0.0
  private var last = 0.0

  package init() {}

  /// Receives a packet, in dBm. Times are in seconds and do not step back.
  package mutating func receive(_ rssi: Int8, at seconds: Double) {
    guard signals.count < Self.maximumPackets else { return }
    if signals.isEmpty { first = seconds }
    last = max(last, seconds)
    signals.append(rssi)
  }

  package var count: Int { signals.count }
  /// The seconds from the first packet to the last.
  package var seconds: Double { signals.isEmpty ? 0 : last - first }

  /// The level; `nil` with fewer than ``leastPackets``.
  ///
  /// Successive packets fade alike, so the error is that of the mean of batches longer than the
  /// fading (P. D. Welch in S. S. Lavenberg, *Computer Performance Modeling Handbook*, 1983,
  /// section 6.4): the greater one of ten and of five batches, but at least 0.2 dB, for the
  /// rounding to whole dBm.
  package var level: Level? {
    guard count >= Self.leastPackets else { return nil }
    let error = max(Self.meanError(batches(10)), Self.meanError(batches(5)), 0.2)
    return Level(mean: location(signals[...]), error: error)
  }

  private static func meanError(_ numbers: [Double]) -> Double {
    let count = Double(numbers.count)
    let mean = numbers.reduce(0, +) / count
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (squares / (count - 1) / count).squareRoot()
  }

  /// Whether more packets would change little: the level is certain, or the beacon moved.
  package var isEnough: Bool {
    guard count >= Self.enoughPackets, seconds >= Self.enoughSeconds, let level else {
      return false
    }
    return level.error <= Self.enoughError || count == Self.maximumPackets
      || change > Self.greatestChange
  }

  /// The greatest change of the level during the survey, in dB: of a stretch against the rest, or
  /// of the straight line through all packets. It is 0 if noise explains it.
  package var change: Double {
    guard count >= Self.leastPackets else { return 0 }
    let batches = batches(10)
    let number = batches.count
    // The variance of a batch: of independent packets, or between neighboring batches if greater.
    let steps = zip(batches, batches.dropFirst()).map { $1 - $0 }
    let noise = max(
      packetVariance * Double(number) / Double(count),
      steps.reduce(0) { $0 + $1 * $1 } / Double(2 * steps.count))
    var greatest = 0.0
    func consider(_ change: Double, variance: Double) {
      // The greatest of this many stretches reaches three deviations by chance alone.
      if change.magnitude > Self.leastDeviations * (variance * noise).squareRoot() {
        greatest = max(greatest, change.magnitude)
      }
    }
    let sum = batches.reduce(0, +)
    for start in 0..<number {
      var inside = 0.0
      for end in start..<number {
        inside += batches[end]
        let length = end - start + 1
        guard length >= 2, number - length >= 2 else { continue }
        let change = inside / Double(length) - (sum - inside) / Double(number - length)
        consider(change, variance: 1 / Double(length) + 1 / Double(number - length))
      }
    }
    let middle = Double(number - 1) / 2
    let products = batches.enumerated().reduce(0) { $0 + (Double($1.offset) - middle) * $1.element }
    let squares = Double(number * (number * number - 1)) / 12
    let span = Double(number - 1)
    consider(products / squares * span, variance: span * span / squares)
    return greatest
  }

  /// Returns the levels of consecutive stretches of equal length.
  private func batches(_ number: Int) -> [Double] {
    (0..<number).map { index in
      location(signals[(count * index / number)..<(count * (index + 1) / number)])
    }
  }

  /// The variance of a packet in dB², from the steps between successive packets.
  private var packetVariance: Double {
    let squares = zip(signals, signals.dropFirst()).reduce(0.0) { sum, pair in
      let step = Double(pair.1) - Double(pair.0)
      return sum + step * step
    }
    return max(squares / Double(2 * (count - 1)), 1)
  }

  /// Returns the location of Student's t distribution in dBm by expectation and maximization (K. L.
  /// Lange, R. J. A. Little, J. M. G. Taylor, "Robust statistical modeling using the t
  /// distribution", JASA 84, 1989).
  private func location(_ signals: ArraySlice<Int8>) -> Double {
    let freedom = Double(RSSIFilter.freedom)
    var mean = signals.reduce(0.0) { $0 + Double($1) } / Double(signals.count)
    var variance = packetVariance
    for _ in 0..<8 {
      var (weights, sum, squares) = (0.0, 0.0, 0.0)
      for signal in signals {
        let error = Double(signal) - mean
        let weight = (freedom + 1) / (freedom + error * error / variance)
        weights += weight
        sum += weight * Double(signal)
        squares += weight * error * error
      }
      mean = sum / weights
      variance = max(squares / Double(signals.count), 1.0 / 12)
    }
    return mean
  }
}
