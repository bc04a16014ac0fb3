import Advertising
import FleetSites
import Fusion
import Glibc
import TestSupport

/// Prints the wrong rooms, the median error and the calibration on the two walks of the harness, and the
/// wrong rooms of ESPresense's solver as Rivals.swift has it. Published for it: 6.6 % and 22.3 %.
func harness(runs: Int) {
  func room(_ name: String, _ left: Double, _ right: Double) -> Site.Room {
    Site.Room(
      name,
      outline: [
        Site.Point(left, 0), Site.Point(right, 0), Site.Point(right, 4), Site.Point(left, 4),
      ])
  }
  let corners = [("nw", 0.2, 3.8), ("sw", 0.2, 0.2), ("ne", 5.8, 3.8), ("se", 5.8, 0.2)]
  var site = Site(
    "flat", rooms: [room("living room", 0, 4), room("bedroom", 4, 6)],
    receivers: corners.map { Site.Receiver($0.0, at: Site.Point($0.1, $0.2), height: 2.4) })
  site.propagation.exponent = 3
  site.propagation.wallLoss = 0
  site.propagation.shadowing = 0
  site.propagation.noise = 2.5
  site.propagation.beaconHeight = 2.4
  site.opening = 1
  site.walkingSpeed = 0.12
  let walks = [
    ("diagonal", [(0.5, 0.5), (3, 2), (5.5, 3.5)]),
    ("through the wall", [(1, 2), (3, 2), (3.9, 2), (4.1, 2), (5, 2)]),
  ]
  let model = SiteModel(site)
  let beacon = BeaconIdentity(
    uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1,
    minor: 2)
  for (name, corners) in walks {
    var random = SplitMix64(seed: 20_260_530)
    var score = Calibration()
    var solved = RoomScore()
    var errors: [Double] = []
    for _ in 0..<runs {
      var fusion = SiteFusion(model)
      var solver = ESPresense(site, .nelderMead, seconds: 1)
      var second: Int64 = 0
      var places = zip(corners, corners.dropFirst()).flatMap { start, end in
        (0..<30).map {
          let share = Double($0) / 30
          return Site.Point(
            start.0 + (end.0 - start.0) * share, start.1 + (end.1 - start.1) * share)
        }
      }
      if let last = corners.last { places.append(Site.Point(last.0, last.1)) }
      for place in places {
        second += 1
        var reports: [ReceiverSecond] = []
        for receiver in site.receivers {
          guard let position = receiver.position else { continue }
          var rssi = -59 - 30 * log10((position - place).length) + 2.5 * random.normal()
          if Double.random(in: 0..<1, using: &random) < 0.1 { rssi -= 6 }
          reports.append(
            ReceiverSecond(
              receiver: receiver.name, boot: 1, number: UInt64(second), time: second * 1000,
              receptions: [.init(beacon, count: 1, mean: rssi, measuredPower: -59)]))
        }
        for report in reports { _ = fusion.receive(report) }
        solver.receive(reports, second: second)
        guard let estimate = fusion.estimate(of: beacon), let point = estimate.position else {
          continue
        }
        let truth = place.x <= 4 ? "living room" : "bedroom"
        solved.add(
          beacon, room: solver.answer(beacon).room, best: nil, truth: truth, second: second)
        score.add(estimate.best.probability, isRight: estimate.best.place == .room(truth))
        errors.append((point - place).length)
      }
    }
    errors.sort()
    print(
      name.padded(to: 18) + "wrong \(percent(1 - score.rightShare)) %, calibration "
        + "\(percent(score.error)) %, median error \((errors[errors.count / 2] * 100).rounded()) cm; "
        + "ESPresense's solver wrong \(percent(1 - solved.rightShare)) %"
    )
  }
}

/// Probabilities, and how often they were right.
struct Calibration {
  private var bins = Array(repeating: (count: 0.0, right: 0.0, sum: 0.0), count: 10)

  mutating func add(_ probability: Double, isRight: Bool) {
    let bin = min(9, Int(probability * 10))
    bins[bin].count += 1
    bins[bin].right += isRight ? 1 : 0
    bins[bin].sum += probability
  }

  private var count: Double { bins.reduce(0) { $0 + $1.count } }
  var rightShare: Double { bins.reduce(0) { $0 + $1.right } / max(1, count) }
  var error: Double { bins.reduce(0) { $0 + abs($1.sum - $1.right) } / max(1, count) }
}
