// Prints what the signal filter and the ranger make of made-up beacons, for
// Benchmarks/Studies/ranging-plots.py and docs/ranging.md.
//
//   ranging-trace step10 | step5 | step1 | still10 | walk | families [SEED [RUNS]] | curve [SEED [RUNS]] |
//                 sides [SEED [RUNS]] | speed [packets]
//
// step10: 10 Hz, N(0, 5 dB), 15 dB up at 20 s. step5: 5 Hz, indoor fading, 15 dB down at 20 s.
// step1: 1 Hz, N(0, 5 dB), 15 dB up at 60 s. still10: 10 Hz, indoor fading, nothing moves.
// walk: packets and reports of the family that walks at 0.5 m/s, at 2 Hz, with seed 20000.
// families: not CSV, but rows of the table in docs/ranging.md; 16 runs from seed 1000.
// curve: error against lag of simple filters and of this one, on the families that walk; 16 runs from seed 1000.
// sides: not CSV, but rows of the table in docs/ranging.md; 64 runs from seed 1000.
// speed: not CSV, but the time a packet takes: 5 million, or so many, over 1,000 beacons in turn, at 10 Hz and at 1 Hz.
internal import Advertising
internal import Ranging
internal import RealModule
internal import Scanning
internal import TestSupport

struct Experiment {
  var name: String
  var rate: Double
  var seconds: Double
  var jumpTime: Double
  var jump: Double
  var white: Double
  var slow: Double
}

let experiments = [
  Experiment(name: "step10", rate: 10, seconds: 40, jumpTime: 20, jump: 15, white: 5, slow: 0),
  Experiment(name: "step5", rate: 5, seconds: 40, jumpTime: 20, jump: -15, white: 2, slow: 2),
  Experiment(name: "step1", rate: 1, seconds: 120, jumpTime: 60, jump: 15, white: 5, slow: 0),
  Experiment(name: "still10", rate: 10, seconds: 60, jumpTime: 60, jump: 0, white: 2, slow: 2),
]

func trace(_ experiment: Experiment) {
  var noise = SplitMix64(seed: 7)
  var filter = RSSIFilter()
  var slow = 0.0
  // Slow fading has a correlation time of 1 s.
  let keep = Double.exp(-1 / experiment.rate)
  print("seconds,truth,rssi,mean,standard_error")
  for index in 0..<Int(experiment.seconds * experiment.rate) {
    let seconds = Double(index) / experiment.rate
    let truth = -75 + (seconds >= experiment.jumpTime ? experiment.jump : 0)
    slow = keep * slow + (1 - keep * keep).squareRoot() * experiment.slow * noise.normal()
    let rssi = (truth + slow + experiment.white * noise.normal()).rounded()
    filter.update(rssi: Float(rssi), at: Int64(seconds * 1e9))
    print("\(seconds),\(truth),\(rssi),\(filter.mean),\(filter.standardError)")
  }
}

let families = [
  Family(name: "still", motion: .still, rate: 10, seconds: 180),
  Family(name: "still", motion: .still, rate: 2, seconds: 300),
  Family(name: "still", motion: .still, rate: 1, seconds: 600),
  Family(name: "still", motion: .still, rate: 0.1, seconds: 3600),
  Family(
    name: "still, no direct wave, people move", motion: .still, rate: 5, seconds: 180, rice: -20,
    movingWaves: 4),
  Family(name: "a body turns", motion: .turn, rate: 10, seconds: 180),
  Family(name: "to the beacon and back", motion: .walk, rate: 10, seconds: 180, speed: 0.15),
  Family(name: "to the beacon and back", motion: .walk, rate: 1, seconds: 300, speed: 0.15),
  Family(name: "to the beacon and back", motion: .walk, rate: 0.1, seconds: 2400, speed: 0.15),
  Family(name: "to the beacon and back", motion: .walk, rate: 10, seconds: 180, speed: 0.5),
  Family(name: "to the beacon and back", motion: .walk, rate: 2, seconds: 180, speed: 0.5),
  Family(name: "to the beacon and back", motion: .walk, rate: 10, seconds: 180),
  Family(
    name: "to the beacon and back, no direct wave", motion: .walk, rate: 5, seconds: 180,
    exponent: 2.4, rice: -20),
  Family(name: "to the beacon and back", motion: .walk, rate: 1, seconds: 300),
  Family(name: "past the beacon", motion: .pass, rate: 10, seconds: 180, speed: 1.4),
  Family(name: "past the beacon", motion: .pass, rate: 2, seconds: 180, speed: 1.4),
  Family(name: "errands, 12 m", motion: .errands, rate: 8, seconds: 240, shadowing: 6),
  Family(name: "errands, 12 m", motion: .errands, rate: 2, seconds: 240, speed: 0.5, shadowing: 6),
  Family(
    name: "errands, 30 m", motion: .errands, rate: 8, seconds: 240, shadowing: 6, side: 30),
  Family(
    name: "errands, 30 m", motion: .errands, rate: 2, seconds: 240, speed: 0.5, shadowing: 6,
    side: 30),
  Family(name: "stops and goes", motion: .stopAndGo, rate: 10, seconds: 300, speed: 1.2),
  Family(name: "stops and goes", motion: .stopAndGo, rate: 1, seconds: 600),
]

/// The reports of a run, once a second.
struct Report {
  var seconds: Double
  var truth: Double
  var beacon: RangedBeacon
}

func reports(_ family: Family, seed: UInt64) -> [Report] {
  var configuration = Ranger.Configuration()
  configuration.calibration = Calibration(
    measuredPower: -59, model: .logDistance(exponent: family.exponent))
  var ranger = Ranger(configuration)
  var reports: [Report] = []
  var due = 1.0
  let identity = BeaconIdentity(uuid: ProximityUUID(high: 0, low: 1), major: 1, minor: 1)
  for moment in family.run(seed: seed) {
    let time = MonotonicTime(nanoseconds: Int64(moment.seconds * 1e9))
    if let rssi = moment.rssi {
      ranger.receive(
        Sighting(
          time: time, wallTime: time.wallClockTime(.zero), beacon: identity, measuredPower: -59,
          rssi: Int8(rssi), address: BluetoothAddress(rawValue: 1), addressType: .random))
    }
    while due <= moment.seconds {
      let now = MonotonicTime(nanoseconds: Int64(due * 1e9))
      if let beacon = ranger.report(at: now).first {
        reports.append(Report(seconds: due, truth: moment.distance, beacon: beacon))
      }
      due += 1
    }
  }
  return reports
}

/// The zone of a distance, with the hysteresis of the standard limits.
func trueZone(_ distance: Double, after zone: Proximity) -> Proximity {
  if distance < (zone == .immediate ? 0.7 : 0.5) { return .immediate }
  return distance < (zone == .far ? 4 : 5) ? .near : .far
}

func median(_ values: [Double]) -> Double {
  values.isEmpty ? .nan : values.sorted()[values.count / 2]
}

func correlation(_ a: [Double], _ b: [Double]) -> Double {
  let count = Double(a.count)
  let (meanA, meanB) = (a.reduce(0, +) / count, b.reduce(0, +) / count)
  var (product, squaresA, squaresB) = (0.0, 0.0, 0.0)
  for (x, y) in zip(a, b) {
    product += (x - meanA) * (y - meanB)
    squaresA += (x - meanA) * (x - meanA)
    squaresB += (y - meanB) * (y - meanB)
  }
  return product / (squaresA * squaresB).squareRoot()
}

func fixed(_ value: Double, _ digits: Int) -> String {
  if value.isNaN { return "–" }
  let scale = Double.pow(10, Double(digits))
  let text = String(Int((value.magnitude * scale).rounded()))
  let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
  return padded.dropLast(digits) + (digits > 0 ? "." : "") + padded.suffix(digits)
}

/// The shift of the truth, up to 0.45 of a leg, that agrees best with values over seconds.
func lag(of values: [(seconds: Double, value: Double)], _ family: Family, _ truth: [Moment])
  -> Double
{
  var best = (correlation: -2.0, shift: 0.0)
  let leg = (family.motion == .pass ? 8.0 : 9.0) / family.speed
  for shift in stride(from: 0, to: min(30, 0.45 * leg), by: max(0.1, 1 / family.rate)) {
    let shifted = values.map { report in
      let index = Int(((report.seconds - shift) * family.rate).rounded())
      return Double.log(truth[min(max(index, 0), truth.count - 1)].distance)
    }
    let value = correlation(values.map(\.value), shifted)
    if value > best.correlation { best = (value, shift) }
  }
  return best.shift
}

/// Prints the row of a family: medians over all reports after the first 20 s, ten packets at the least.
func measure(_ family: Family, seed: UInt64, runs: Int) {
  var (doublings, meters, variances, lags) = ([Double](), [Double](), [Double](), [Double]())
  var (changes, trueChanges, minutes, all) = (0.0, 0.0, 0.0, 0.0)
  var (covered, coveredByOne, deviations, likelihood) = (0.0, 0.0, 0.0, 0.0)
  let moves = family.motion != .still && family.motion != .turn
  for run in 0..<runs {
    let reports = reports(family, seed: seed + UInt64(run))
    let known = reports.filter {
      $0.seconds > max(20, 10 / family.rate) && $0.beacon.estimate != nil
    }
    let levels = known.map { $0.beacon.smoothed ?? 0 }
    for report in known {
      guard let estimate = report.beacon.estimate else { continue }
      doublings.append(Double.log2(estimate.distance / report.truth).magnitude)
      meters.append((estimate.distance - report.truth).magnitude)
      let (low, high) = estimate.interval(coverage: 0.95)
      covered += low <= report.truth && report.truth <= high ? 1 : 0
      let deviation = estimate.logDeviation
      let error = Double.log(estimate.distance / report.truth) / deviation
      coveredByOne += error.magnitude <= 1 ? 1 : 0
      deviations += deviation
      likelihood -= 0.5 * error * error + Double.log(deviation * (2 * .pi).squareRoot())
      all += 1
    }
    let zones = known.map(\.beacon.proximity).filter { $0 != .unknown }
    changes += Double(zip(zones, zones.dropFirst()).count { $0 != $1 })
    var zone = Proximity.unknown
    for report in known {
      let now = trueZone(report.truth, after: zone)
      trueChanges += zone != .unknown && now != zone ? 1 : 0
      zone = now
    }
    minutes += family.seconds / 60
    if moves {
      lags.append(
        lag(
          of: zip(known, levels).map { ($0.seconds, -$1) }, family,
          family.run(seed: seed + UInt64(run))))
    } else {
      let mean = levels.reduce(0, +) / Double(levels.count)
      variances.append(
        levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(levels.count))
    }
  }
  let lag = lags.isEmpty ? .nan : lags.reduce(0, +) / Double(lags.count)
  let still = (variances.reduce(0, +) / Double(variances.count)).squareRoot()
  let speed = moves ? "\(family.speed) m/s" : ""
  print(
    "| \(family.name)\(speed.isEmpty ? "" : ", " + speed), \(family.rate) Hz"
      + " | \(fixed(median(doublings), 2)) | \(fixed(median(meters), 2)) m"
      + " | \(moves ? fixed(lag, 1) + " s" : fixed(still, 2) + " dB")"
      + " | \(fixed(changes / minutes, 2)) of \(fixed(trueChanges / minutes, 2))"
      + " | \(fixed(100 * covered / all, 0)) / \(fixed(100 * coveredByOne / all, 0)) %"
      + " | \(fixed(Double.exp(deviations / all), 2))"
      + " | \(likelihood < 0 ? "−" : "")\(fixed(likelihood / all, 2)) |")
}

/// Prints the first 90 s of a family's first run in the table: the packets, and the reports once a second.
func traceWalk() {
  guard
    let family = families.first(where: { $0.motion == .walk && $0.rate == 2 && $0.speed == 0.5 })
  else { return }
  print("seconds,truth,raw,estimate,low,high")
  for moment in family.run(seed: 20000) where moment.seconds < 90 {
    let raw = moment.rssi.map { "\(Double.pow(10, (-59 - Double($0)) / 20))" } ?? ""
    print("\(moment.seconds),\(moment.distance),\(raw),,,")
  }
  for report in reports(family, seed: 20000) where report.seconds < 90 {
    let numbers = report.beacon.estimate.map { estimate in
      let (low, high) = estimate.interval(coverage: 0.95)
      return "\(estimate.distance),\(low),\(high)"
    }
    print("\(report.seconds),,,\(numbers ?? "nan,nan,nan")")
  }
}

func measureSpeed(packets: Int) {
  var noise = SplitMix64(seed: 7)
  let signals = (0..<4096).map { _ in Float((-70 + 4 * noise.normal()).rounded()) }
  for gap in [Int64(100_000_000), 1_000_000_000] {
    var filters = [RSSIFilter](repeating: RSSIFilter(), count: 1000)
    let duration = ContinuousClock().measure {
      var beacons = filters.mutableSpan
      for round in 0..<packets / 1000 {
        for beacon in beacons.indices {
          let rssi = signals[(round &* 31 &+ beacon &* 17) & 4095]
          let time = Int64(round) * gap + Int64(beacon) * 1000
          beacons[beacon].update(rssi: rssi, at: time)
        }
      }
    }
    let mean = filters.reduce(0) { $0 + $1.mean } / 1000
    print("\(duration / packets) a packet every \(Double(gap) * 1e-9) s; the mean is \(mean) dBm")
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.dropFirst().compactMap { Int($0) }
switch arguments.first {
case "speed": measureSpeed(packets: numbers.first ?? 5_000_000)
case "walk": traceWalk()
case "families":
  print(
    "| Family | \\|log₂\\| | Error | Still deviation or lag | Zone changes/min | 95 / 68 % hold"
      + " | One deviation | Log-likelihood |")
  print("| - | - | - | - | - | - | - | - |")
  for family in families {
    measure(family, seed: UInt64(numbers.first ?? 1000), runs: numbers.count > 1 ? numbers[1] : 16)
  }
case "curve":
  measureCurve(seed: UInt64(numbers.first ?? 1000), runs: numbers.count > 1 ? numbers[1] : 16)
case "sides":
  measureSides(seed: UInt64(numbers.first ?? 1000), runs: numbers.count > 1 ? numbers[1] : 64)
case let name?:
  for experiment in experiments where experiment.name == name { trace(experiment) }
default:
  print(
    "usage: ranging-trace step10 | step5 | step1 | still10 | walk | families | curve | sides | speed"
  )
}
