import Advertising
import FleetSites
import Fusion
import Glibc
import TestSupport

// Prints how right the rooms of simulated sites are, and how well the probabilities agree with that:
//
//     BUILD_STUDIES=1 swift run -c release rooms-study 4
//     BUILD_STUDIES=1 swift run -c release rooms-study site.toml reports.jsonl truth.jsonl
//
// The number is that of the seeds. Most sites differ from what their site file states. The last two
// rows are the harness of ESPresense-companion, which Tests/FusionTests describes.
//
// The second command compares the rooms of a recorded set with those by the rules of others. Three more
// files are another set, and so on.

/// A site as it is, what its site file states, and how its beacons move.
struct Case: Sendable {
  var name: String
  var configuration = SiteSimulator.Configuration()
  var seconds = 600
  var real = Site(planOf: 8)
  var stated = Site(planOf: 8)
}

struct Result: Sendable {
  var fusion = RoomScore()
  var nearest = RoomScore()
  /// The sum of the logarithms of what the estimates gave the true room.
  var logarithms = 0.0
  /// The bins of the first 20 seconds of each beacon.
  var first = RoomScore()
  /// The seconds after which a room was left by a beacon that is not received any more.
  var departures: [Int64] = []

  mutating func merge(_ other: Result) {
    fusion.merge(other.fusion)
    nearest.merge(other.nearest)
    first.merge(other.first)
    logarithms += other.logarithms
    departures += other.departures
  }
}

extension RoomEstimate {
  /// A bound of the probability of a room: the estimate has the two best.
  func probability(of room: String, rooms: Int) -> Double {
    if best.place == .room(room) { return best.probability }
    if runnerUp.place == .room(room) { return runnerUp.probability }
    return (1 - best.probability - runnerUp.probability) / Double(max(1, rooms - 1))
  }
}

func run(_ item: Case, seed: UInt64) -> Result {
  var configuration = item.configuration
  configuration.seed = seed
  var simulator = SiteSimulator(item.real, configuration)
  var fusion = SiteFusion(SiteModel(item.stated))
  var nearest = NearestReceiver(item.stated)
  var result = Result()
  for _ in 0..<item.seconds {
    let second = simulator.next()
    for report in second.reports { _ = fusion.receive(report) }
    nearest.receive(second.reports)
    for (beacon, truth) in second.truth {
      let estimate = fusion.estimate(of: beacon)
      var room: String?
      if case .room(let name)? = estimate?.place { room = name }
      result.fusion.add(
        beacon, room: room, best: estimate?.best, truth: truth, second: second.second)
      if second.second <= 20 {
        result.first.add(
          beacon, room: room, best: estimate?.best, truth: truth, second: second.second)
      }
      result.nearest.add(
        beacon, room: nearest.room(of: beacon), best: nil, truth: truth, second: second.second)
      if let estimate {
        let probability = estimate.probability(of: truth, rooms: item.real.rooms.count)
        result.logarithms -= log(max(1e-6, probability))
      }
    }
  }
  // All beacons vanish.
  var places: [BeaconIdentity: Whereabouts] = [:]
  for estimate in fusion.estimates {
    if case .room = estimate.place { places[estimate.beacon] = estimate.place }
  }
  for passed in 1...120 {
    let number = Int64(item.seconds + passed)
    for receiver in item.stated.receivers {
      _ = fusion.receive(
        ReceiverSecond(
          receiver: receiver.name, boot: 1, number: UInt64(number), time: number * 1000,
          receptions: []))
    }
    for (beacon, place) in places where fusion.estimate(of: beacon)?.place != place {
      result.departures.append(Int64(passed))
      places[beacon] = nil
    }
  }
  result.departures += places.map { _ in 120 }
  return result
}

func cases() -> [Case] {
  func make(
    _ name: String, _ change: (inout Case) -> Void = { _ in }
  ) -> Case {
    var item = Case(name: name)
    change(&item)
    return item
  }
  return [
    make("as stated"),
    make("lying, 300 s") {
      $0.configuration.stay = 1e9
      $0.configuration.beacons = 40
      $0.seconds = 300
    },
    make("carried, 300 s") {
      $0.configuration.beacons = 40
      $0.seconds = 300
    },
    make("short stays") { $0.configuration.stay = 30 },
    make("shadowing 3") { $0.configuration.shadowing = 3 },
    make("shadowing 8") { $0.configuration.shadowing = 8 },
    make("exponent 2") { $0.real.propagation.exponent = 2 },
    make("exponent 3.5") { $0.real.propagation.exponent = 3.5 },
    make("walls of 1 dB") { $0.real.propagation.wallLoss = 1 },
    make("walls of 8 dB") { $0.real.propagation.wallLoss = 8 },
    make("power ±6 dB") { $0.configuration.power = 6 },
    make("power -10 dB") { $0.real.propagation.measuredPower = -69 },
    make("noise 6") { $0.configuration.noise = 6 },
    make("one a second") { $0.configuration.advertisements = 1 },
    make("one in 3 s") { $0.configuration.advertisements = 0.33 },
    make("faults") { $0.configuration.faults = 0.1 },
    make("offsets") {
      for index in $0.real.receivers.indices {
        $0.real.receivers[index].offset = [0, 4, -4, 2, -6, 3, 0, -2][index % 8]
        $0.real.receivers[index].rate = [0.9, 0.5, 0.7, 0.3][index % 4]
      }
    },
    make("poor receivers") {
      $0.real.propagation.sensitivity = -82
      for index in $0.real.receivers.indices { $0.real.receivers[index].rate = 0.6 }
    },
    make("worse receivers") {
      $0.real.propagation.sensitivity = -76
      $0.configuration.advertisements = 1
    },
    make("all wrong") {
      $0.configuration.shadowing = 7
      $0.configuration.power = 5
      $0.real.propagation.exponent = 3
      $0.real.propagation.wallLoss = 5
    },
    make("few receivers") {
      $0.real.receivers = $0.real.receivers.enumerated().filter { $0.offset % 3 != 1 }.map(
        \.element)
      $0.stated.receivers = $0.real.receivers
    },
  ]
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}

func percent(_ share: Double) -> String { "\((share * 1000).rounded() / 10)" }

func row(_ cells: [String]) {
  var line = ""
  for (index, cell) in cells.enumerated() { line += cell.padded(to: index == 0 ? 18 : 9) }
  print(line)
}

func print(_ name: String, _ result: Result) {
  let departures = result.departures.sorted()
  func departure(_ part: Double) -> String {
    departures.isEmpty ? "–" : "\(departures[Int(Double(departures.count - 1) * part)])"
  }
  row([
    name, percent(result.fusion.rightShare), percent(result.fusion.wrongShare),
    percent(result.nearest.wrongShare), percent(result.fusion.expectedCalibrationError),
    percent(result.first.expectedCalibrationError),
    "\((result.logarithms / Double(max(1, result.fusion.seconds)) * 1000).rounded() / 1000)",
    "\(result.fusion.latency(0.5) ?? -1)/\(result.fusion.latency(0.9) ?? -1)",
    "\((result.fusion.falseChangesPerHour * 10).rounded() / 10)",
    "\(departure(0.5))/\(departure(0.9))",
  ])
}

/// Prints the rooms of simulated sites.
func study(seeds: UInt64) async {
  row([
    "site", "right %", "wrong %", "nearest", "ECE %", "first 20", "log loss", "latency", "false/h",
    "left, s",
  ])
  var all = Result()
  for item in cases() {
    var total = Result()
    await withTaskGroup(of: Result.self) { group in
      for seed in 1...seeds { group.addTask { run(item, seed: seed) } }
      for await result in group { total.merge(result) }
    }
    print(item.name, total)
    all.merge(total)
  }
  print("all", all)
  harness(runs: Int(seeds) * 10)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count < 2 {
  await study(seeds: arguments.first.flatMap { UInt64($0) } ?? 4)
} else {
  let sets = stride(from: 0, to: arguments.count - 2, by: 3)
  study(
    try sets.map {
      try Recording(site: arguments[$0], reports: arguments[$0 + 1], truth: arguments[$0 + 2])
    })
}
