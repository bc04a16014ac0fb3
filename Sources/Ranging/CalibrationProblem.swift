/// The reason that levels cannot serve as a calibration.
package enum CalibrationProblem: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Expectation: Sendable { case statedPower, otherPlaces }

  case tooFewPackets(Int)
  case tooUncertain(error: Double)
  case changed(by: Double)
  case obstructed(distance: Double, weaker: Double, than: Expectation)
  case impossiblePower(Double)
  case sidesAlike(Double)
  case edgeIsNoEdge(edge: Double, inside: Double, outside: Double)

  /// One sentence with the measurement, its limits, and the solution.
  package var description: String {
    switch self {
    case .tooFewPackets(let count):
      "only \(count) packets of the beacon were received and \(PlaceSurvey.leastPackets) are needed;"
        + " measure for longer, or closer"
    case .tooUncertain(let error):
      "the signal varies so much that its level is uncertain by \(decibels(error));"
        + " measure for longer, away from people who move"
    case .changed(let change):
      "the signal changed by \(decibels(change)) while it was measured: the beacon moved or somebody"
        + " passed; measure this place again"
    case .obstructed(let distance, let weaker, .statedPower):
      "the signal at \(meters(distance)) is \(decibels(weaker)) weaker than the beacon states: a body"
        + " or metal stands in the way, or the stated power is wrong; clear the way, and measure at"
        + " a second distance to show that it is the power"
    case .obstructed(let distance, let weaker, .otherPlaces):
      "the signal at \(meters(distance)) is \(decibels(weaker)) weaker than the other places let"
        + " expect: a body or metal stands in the way there, or the distance is wrong"
    case .impossiblePower(let power):
      "the power at 1 m would be \(level(power)), and only -100 to -1 dBm can be; check the"
        + " distances"
    case .sidesAlike(let difference):
      "inside is only \(decibels(difference)) stronger than outside: signal strength cannot tell these"
        + " places apart; choose places further apart, or move the receiver into the region"
    case .edgeIsNoEdge(let edge, let inside, let outside):
      "the signal where the region should begin (\(level(edge))) is not between inside"
        + " (\(level(inside))) and outside (\(level(outside))); measure the three places again"
    }
  }

  private func decibels(_ number: Double) -> String { rounded(number, to: 10) + " dB" }

  private func level(_ number: Double) -> String { rounded(number, to: 10) + " dBm" }

  private func meters(_ number: Double) -> String { rounded(number, to: 100) + " m" }

  private func rounded(_ number: Double, to scale: Double) -> String {
    let rounded = (number * scale).rounded() / scale
    return rounded == rounded.rounded() && rounded.magnitude < 1e9
      ? "\(Int(rounded))" : "\(rounded)"
  }
}

extension PlaceSurvey {
  /// Returns the level if it can serve in a calibration.
  package func usableLevel() throws(CalibrationProblem) -> Level {
    guard let level else { throw .tooFewPackets(count) }
    let change = change
    if change > Self.greatestChange { throw .changed(by: change) }
    if level.error > Self.greatestError { throw .tooUncertain(error: level.error) }
    return level
  }
}
