package import Advertising
package import Fusion
internal import RealModule

/// What the receivers of a site received of beacons whose room is known, as in a walk through the
/// rooms.
///
/// The level of a room and a receiver is the mean in dB over all seconds, each of them with the mean
/// of its advertisements, corrected by the power that the beacon states. In the seconds without the
/// beacon its signal was weaker: without them, the level of a far receiver would be that of its
/// strongest seconds. So the mean is that of a normal distribution of which the weak part is not
/// received, as in Tobin, *Estimation of relationships for limited dependent variables*, Econometrica
/// 26, 1958.
package struct Survey: Sendable {
  /// The reason that a receiver received nothing in a room.
  package enum Absence: Sendable, Hashable {
    case notReceived
    /// The receiver sent no report, or could not receive.
    case notReported
  }

  private struct Pair: Hashable {
    var room: String
    var receiver: String
  }

  private struct Sum {
    /// The seconds of the receiver's reports, of those with the beacon, and the sum of their means.
    var reported = 0
    var received = 0
    var rssi = 0.0
  }

  private let site: Site
  private var sums: [Pair: Sum] = [:]

  package init(_ site: Site) { self.site = site }

  /// Takes a report of a second in which a beacon was in a room. A report of more than 2 s, of a
  /// machine that was suspended or busy, is of other rooms too, and is left out.
  package mutating func receive(
    _ report: ReceiverSecond, of beacon: BeaconIdentity, in room: String
  ) {
    guard report.isReceiving, report.seconds <= 2 else { return }
    var sum = sums[Pair(room: room, receiver: report.receiver)] ?? Sum()
    sum.reported += 1
    if let reception = report.receptions.first(where: { $0.beacon == beacon }),
      let mean = reception.mean
    {
      let power = site.propagation.measuredPower
      sum.received += 1
      sum.rssi += mean + power - (reception.measuredPower.map(Double.init) ?? power)
    }
    sums[Pair(room: room, receiver: report.receiver)] = sum
  }

  /// Returns the reason that a receiver received nothing in a room, or `nil` if it did.
  package func absence(in room: String, of receiver: String) -> Absence? {
    guard let sum = sums[Pair(room: room, receiver: receiver)] else { return .notReported }
    return sum.received > 0 ? nil : .notReceived
  }

  /// Returns the levels of a room in the order of the site's receivers. A receiver that reported, and
  /// did not receive the beacon, has a level well below its sensitivity.
  package func levels(in room: String) -> [Site.Level] {
    let share = share(in: room)
    guard share > 0 else { return [] }
    return site.receivers.compactMap { receiver in
      guard let sum = sums[Pair(room: room, receiver: receiver.name)] else { return nil }
      let rssi = max(-127, min(20, mean(sum, share: share)))
      return Site.Level(
        room: room, receiver: receiver.name, rssi: (rssi * 10).rounded() / 10,
        seconds: sum.reported)
    }
  }

  /// The share of the seconds in which the beacon is received where its signal is strong. A second in
  /// fifty is not a question of the signal.
  private func share(in room: String) -> Double {
    site.receivers.reduce(0) { most, receiver in
      guard let sum = sums[Pair(room: room, receiver: receiver.name)] else { return most }
      return max(most, min(0.98, Double(sum.received) / Double(sum.reported)))
    }
  }

  /// The most probable mean of normal levels of which the weak ones are not received.
  private func mean(_ sum: Sum, share: Double) -> Double {
    let law = site.propagation
    let deviation = max(3, (law.shadowing * law.shadowing + law.noise * law.noise).squareRoot())
    /// The mean level in the seconds without the beacon.
    func missed(_ mean: Double) -> Double {
      var (weights, levels) = (0.0, 0.0)
      for step in -16...16 {
        let normal = Double(step) / 4
        let level = mean + normal * deviation
        let weight =
          Double.exp(-normal * normal / 2)
          * (1 - share / (1 + Double.exp((law.sensitivity - level) / 3)))
        weights += weight
        levels += weight * level
      }
      return levels / weights
    }
    var low = law.sensitivity - 2 * deviation
    guard sum.received > 0 else { return low }
    var high = sum.rssi / Double(sum.received)
    let absent = Double(sum.reported - sum.received)
    while high - low > 0.02 {
      let middle = (low + high) / 2
      let error =
        sum.rssi - Double(sum.received) * middle + absent * (missed(middle) - middle)
      if error > 0 { low = middle } else { high = middle }
    }
    return high
  }

  /// The levels of all rooms of the site.
  package var levels: [Site.Level] { site.rooms.flatMap { levels(in: $0.name) } }
}
