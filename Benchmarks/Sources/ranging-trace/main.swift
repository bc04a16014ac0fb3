// Prints what the signal filter makes of a made-up beacon, as CSV, for Scripts/ranging-plots.py.
//
//   ranging-trace step10 | step5 | step1 | still10 | speed
//
// step10: 10 Hz, N(0, 5 dB), 15 dB up at 20 s. step5: 5 Hz, indoor fading, 15 dB down at 20 s.
// step1: 1 Hz, N(0, 5 dB), 15 dB up at 60 s. still10: 10 Hz, indoor fading, nothing moves.
// speed: not CSV, but the time a packet takes: 5 million over 1,000 beacons in turn.
internal import Ranging
internal import RealModule

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

/// SplitMix64 (Steele, Lea and Flood, 2014) and Box and Muller's normal numbers.
struct Noise {
  var state: UInt64 = 7

  mutating func uniform() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
  }

  mutating func normal() -> Double {
    let radius = (-2 * Double.log(1 - uniform())).squareRoot()
    return radius * Double.cos(2 * .pi * uniform())
  }
}

func trace(_ experiment: Experiment) {
  var noise = Noise()
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

func measureSpeed() {
  var noise = Noise()
  let signals = (0..<4096).map { _ in Float((-70 + 4 * noise.normal()).rounded()) }
  var filters = [RSSIFilter](repeating: RSSIFilter(), count: 1000)
  let parameters = RSSIFilter.Parameters()
  let duration = ContinuousClock().measure {
    var beacons = filters.mutableSpan
    for round in 0..<5000 {
      for beacon in beacons.indices {
        let rssi = signals[(round &* 31 &+ beacon &* 17) & 4095]
        let time = Int64(round) * 100_000_000 + Int64(beacon) * 1000
        beacons[beacon].update(rssi: rssi, at: time, parameters: parameters)
      }
    }
  }
  let mean = filters.reduce(0) { $0 + $1.mean } / 1000
  print("\(duration / 5_000_000) a packet; the mean of all is \(mean) dBm")
}

let names = CommandLine.arguments.dropFirst()
let chosen = experiments.filter { names.contains($0.name) }
if names.contains("speed") {
  measureSpeed()
} else if chosen.isEmpty {
  print("usage: ranging-trace step10 | step5 | step1 | still10 | speed")
}
for experiment in chosen { trace(experiment) }
