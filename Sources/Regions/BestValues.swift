/// The best values of a beacon outside a region, in 16 bytes.
struct BestValues: Sendable, BitwiseCopyable {
  /// The strongest signal, in dBm; `.min` for none.
  private(set) var rssi = Int8.min
  private(set) var count: UInt8 = 0
  /// The last rule that was reached, by its place among those for entering.
  private(set) var reached: UInt8 = 0
  private(set) var sightings: UInt32 = 0
  /// The most evidence for the gate of that rule, in dB · s.
  private(set) var evidence: Float = 0
  /// The longest time inside the gates, in seconds.
  private(set) var dwell: Float = 0

  private static let rules: [RegionTransition.Rule] = [
    .sighting, .signal, .distance, .count, .dwell,
  ]

  var rule: RegionTransition.Rule { Self.rules[Int(reached)] }

  /// Receives a sighting after which the beacon is still outside, and the rule that it missed.
  @inline(__always)
  mutating func receive(
    _ rssi: Int8?, missing rule: RegionTransition.Rule, evidence: Float, count: Int, dwell: Float
  ) {
    sightings &+= 1
    if let rssi { self.rssi = max(self.rssi, rssi) }
    self.count = max(self.count, UInt8(truncatingIfNeeded: count))
    self.dwell = max(self.dwell, dwell)
    let place: UInt8 =
      switch rule {
      case .signal: 1
      case .distance: 2
      case .count: 3
      case .dwell: 4
      default: 0
      }
    if place > reached {
      reached = place
      self.evidence = evidence
    } else if place == reached {
      self.evidence = max(self.evidence, evidence)
    }
  }
}
