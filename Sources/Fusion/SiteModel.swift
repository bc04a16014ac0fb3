internal import RealModule

/// A site with all that the model of its beacons needs: its cells, and the numbers of the evidence
/// and of the movement.
package struct SiteModel: Sendable {
  package let site: Site
  let grid: SiteGrid
  /// A hash of all that the losses depend on, which is the same in each process.
  let fingerprint: UInt64
  /// For each receiver, the logarithms of the probabilities of a reception and of none, in a second
  /// with so many advertisements as the index of the first array says, by the whole dB.
  private let tables: [[Chances]]

  struct Chances: Sendable {
    var received: [Float]
    var absent: [Float]
  }

  package init(_ site: Site) {
    self.site = site
    grid = SiteGrid(site)
    fingerprint = site.fingerprint
    starts = Float(1 / site.lying)
    let propagation = site.propagation
    tables = site.receivers.map { receiver in
      Self.rates.map { rate in
        Self.chances(receiver, propagation, advertisements: rate)
      }
    }
  }

  var receivers: Int { site.receivers.count }
  var shadowing: Float { Float(site.propagation.shadowing) }

  /// The share of lying beacons that someone takes in a second, and of carried ones that someone puts
  /// down, one in fifteen seconds.
  let starts: Float
  let stops: Float = 1 / 15
  /// The share of carried beacons at an entrance that leave, and of those outside that enter.
  let leaves: Float = 1 / 60
  let enters: Float = 1 / 120
  /// The correlation of the shadowing from second to second, for a minute where the beacon lies.
  let persistenceStill: Float = 0.983
  let persistenceMoving: Float = 0.8

  /// The variance of the mean of so many advertisements, in dB². Receivers round.
  func variance(count: Int) -> Float {
    let noise = Float(site.propagation.noise)
    return noise * noise / Float(max(1, count)) + 0.25
  }

  /// The weakest signal strength of the tables, in dBm.
  static let lowestLevel: Float = -120

  /// The advertisements of a second that the tables have.
  private static let rates: [Float] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]

  func chances(receiver: Int, advertisements: Float) -> Chances {
    let index = Self.rates.lastIndex { $0 <= advertisements } ?? 0
    return tables[receiver][index]
  }

  private static func chances(
    _ receiver: Site.Receiver, _ propagation: Site.Propagation, advertisements: Float
  ) -> Chances {
    var chances = Chances(received: [], absent: [])
    for level in 0...120 {
      let above = Double(lowestLevel) + Double(level) - propagation.sensitivity
      // Shadowing makes the receiver's own step of about 3 dB wider.
      let width = (9 + propagation.shadowing * propagation.shadowing / 2).squareRoot() / 1.7
      let share = receiver.rate / (1 + Double.exp(-above / width))
      // One second in a hundred is not a question of the signal.
      let none = 0.01 + 0.98 * Double.pow(1 - share, Double(advertisements))
      chances.absent.append(Float(Double.log(none)))
      chances.received.append(Float(Double.log(1 - none)))
    }
    return chances
  }
}

extension Site {
  /// The 64-bit FNV-1a hash of the rooms, the receivers and the law of the losses.
  fileprivate var fingerprint: UInt64 {
    var bytes = StateWriter()
    for room in rooms {
      bytes.put(room.name)
      bytes.put(room.floor)
      for point in room.outline { bytes.put(point) }
    }
    for receiver in receivers {
      bytes.put(receiver.name)
      bytes.put(receiver.room ?? "")
      bytes.put(receiver.floor)
      bytes.put(receiver.position ?? Point(.nan, .nan))
      bytes.put(receiver.height)
      bytes.put(receiver.offset)
    }
    for level in levels {
      bytes.put(level.room)
      bytes.put(level.receiver)
      bytes.put(level.rssi)
      bytes.put(level.seconds)
    }
    for number in [
      propagation.exponent, propagation.wallLoss, propagation.floorLoss, propagation.floorHeight,
      propagation.beaconHeight, propagation.measuredPower,
    ] { bytes.put(number) }
    return bytes.bytes.reduce(0xCBF2_9CE4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
    }
  }
}

extension StateWriter {
  fileprivate mutating func put(_ point: Site.Point) {
    put(point.x)
    put(point.y)
  }
}
