import RealModule

/// A beacon's course: times in microseconds with meters or dBm, linear between the points.
struct Line {
  let isDistance: Bool
  private let times: [Int64]
  private let values: [Double]

  init(_ course: Scenario.Course, number: Int, of count: Int, duration: Double) {
    let points: [Scenario.Point]
    switch course {
    case .track(let given), .rssi(let given): points = given
    case .spread(let range):
      let share = count > 1 ? Double(number) / Double(count - 1) : 0
      let distance = range.lowerBound + share * (range.upperBound - range.lowerBound)
      points = [(0, distance), (duration, distance)]
    }
    if case .rssi = course { isDistance = false } else { isDistance = true }
    times = points.map { microseconds($0.seconds) }
    values = points.map(\.value)
  }

  var span: ClosedRange<Int64> { times[0]...times[times.count - 1] }

  func value(at time: Int64) -> Double? {
    guard span.contains(time) else { return nil }
    var low = 0
    var high = times.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if times[middle] <= time { low = middle } else { high = middle }
    }
    guard times[high] > times[low] else { return values[low] }
    let share = Double(time - times[low]) / Double(times[high] - times[low])
    return values[low] + share * (values[high] - values[low])
  }

  var segments: [(from: Int64, to: Int64, first: Double, last: Double)] {
    (0..<(times.count - 1)).map { (times[$0], times[$0 + 1], values[$0], values[$0 + 1]) }
  }
}

/// The log-distance law, P − 10 n log₁₀ d.
struct PathLoss {
  let power: Double
  let exponent: Double

  func level(at distance: Double) -> Double { power - 10 * exponent * Double.log10(distance) }

  func distance(of level: Double) -> Double { Double.exp10((power - level) / (10 * exponent)) }
}

func microseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e6).rounded()) }
