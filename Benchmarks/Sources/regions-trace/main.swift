// Prints, as CSV, how often a beacon that is there counts as gone and how long one that left is
// missed, for Benchmarks/Studies/regions-plots.py and docs/regions.md.
//
//   regions-trace goals [DAYS] | trade [DAYS] | start | speed
//
// goals: a line a case of air and a seed: intervals 0.1–10 s, loss 10–90 %, independent and in bad
// losses; aiming at one false exit a day. trade: the same cases, aiming at 0.1 to 100 a day.
// start: how often a beacon that was there all along enters a region of unknown state, and how often a
// visitor does who comes 1 to 30 s after the region was added; at full and at reduced duty.
// speed: not CSV, but the time that a gap takes to learn.
internal import Advertising
internal import Regions
internal import Scanning

/// The first day is told by itself: in it, most is learnt.
let day = 86400.0
/// False exits and limits of one rule over one run.
struct Result {
  var limit: Float = 30
  var firstDay = 0
  var later = 0
  var sum = 0.0
}

/// One beacon's days, for several rates of false exits at once.
func measure(_ air: Air, days: Double, aims: [Float]) -> [Result] {
  var air = air
  var learner = GapLearner()
  var results = aims.map { _ in Result() }
  var time = 0.0
  while time < days * day {
    let gap = air.gap()
    for index in results.indices {
      if time > day { results[index].sum += Double(results[index].limit) * gap }
      if Float(gap) <= results[index].limit { continue }
      if time > day { results[index].later += 1 } else { results[index].firstDay += 1 }
    }
    time += gap
    guard learner.learn(gap: Float(gap)) else { continue }
    for (index, aim) in aims.enumerated() {
      let limit = learner.tail.timeout(falseExitsPerDay: aim)
      results[index].limit = min(max(limit, Float(ExitTimeoutRule.floor)), 900)
    }
  }
  return results
}

/// What any rule would have to wait in this air for one false exit a day, and what fixed limits cost.
struct Truth {
  var shortest: Double
  var tenSeconds: Double
  var thirtySeconds: Double

  init(_ air: Air, days: Double) {
    var air = air
    var time = 0.0
    var gaps: [Double] = []
    while time < days * day {
      let gap = air.gap()
      time += gap
      if gap > ExitTimeoutRule.floor { gaps.append(gap) }
    }
    gaps.sort(by: >)
    shortest = gaps.count > Int(days) ? gaps[Int(days)] : ExitTimeoutRule.floor
    tenSeconds = Double(gaps.count { $0 > 10 }) / days
    thirtySeconds = Double(gaps.count { $0 > 30 }) / days
  }
}

func goals(days: Double) {
  print(
    "air,interval,loss,seed,shortest,limit,ratio,false_exits,first_day,fixed10,fixed30")
  for losses in Spells.all {
    for interval in [0.1, 0.3, 1, 3, 10] {
      for loss in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let truth = Truth(Air(interval, loss, losses, seed: 999), days: interval < 1 ? 8 : 60)
        for seed in 1...(interval < 1 ? 2 : 5) as ClosedRange<UInt64> {
          let air = Air(interval, loss, losses, seed: seed)
          let result = measure(air, days: days, aims: [1])[0]
          let limit = result.sum / ((days - 1) * day)
          print(
            losses.name, interval, loss, seed, truth.shortest, limit, limit / truth.shortest,
            Double(result.later) / (days - 1), result.firstDay, truth.tenSeconds,
            truth.thirtySeconds, separator: ",")
        }
      }
    }
  }
}

func trade(days: Double) {
  let aims: [Float] = [0.1, 0.3, 1, 3, 10, 30, 100]
  print("air,interval,loss,aim,limit,false_exits")
  for losses in Spells.all.prefix(2) {
    for interval in [0.1, 1, 10] {
      for loss in [0.1, 0.5, 0.9] {
        let air = Air(interval, loss, losses, seed: 5)
        let results = measure(air, days: days, aims: aims)
        for (aim, result) in zip(aims, results) {
          print(
            losses.name, interval, loss, aim, result.sum / ((days - 1) * day),
            Double(result.later) / (days - 1), separator: ",")
        }
        let truth = Truth(air, days: days)
        for (name, limit, rate) in [
          ("fixed", 10, truth.tenSeconds), ("fixed", 30, truth.thirtySeconds),
        ] {
          print(losses.name, interval, loss, name, limit, rate, separator: ",")
        }
      }
    }
  }
}

/// Whether a beacon that comes at a moment enters a region of which nothing was known at 0 s.
func enters(_ interval: Double, _ loss: Double, at arrival: Double, isFull: Bool, seed: UInt64)
  -> Bool
{
  var air = Air(interval, 0, Spells.all[0], seed: seed)
  let uuid = ProximityUUID(high: 1, low: 2)
  var monitor = RegionMonitor()
  monitor.dutyChanged(isFull: isFull)
  let region = MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: uuid))
  do throws(RegionError) { try monitor.add(region) } catch { return false }
  _ = monitor.advance(to: MonotonicTime(nanoseconds: 0))
  let phase = air.uniform()
  var time = arrival + interval * air.uniform()
  while true {
    let position = time / 0.24 + phase
    let isOpen = isFull || position - position.rounded(.down) < 0.25
    if isOpen, air.uniform() >= loss {
      let moment = MonotonicTime(nanoseconds: Int64(time * 1e9))
      let transitions = monitor.receive(
        Sighting(
          time: moment, wallTime: WallClockTime(nanoseconds: moment.nanoseconds),
          beacon: BeaconIdentity(uuid: uuid, major: 1, minor: 1), measuredPower: -59, rssi: -60,
          address: BluetoothAddress(rawValue: 1), addressType: .random))
      return transitions.last?.change == .enter
    }
    time += air.gap()
  }
}

func start() {
  print("duty,interval,loss,there,visitor")
  let count = UInt64(10_000)
  for isFull in [true, false] {
    for interval in [0.1, 1, 10] {
      for loss in [0.1, 0.5] {
        let there = (1...count).count {
          enters(interval, loss, at: 0, isFull: isFull, seed: $0)
        }
        let visitors = (1...count).count {
          let arrival = 1 + 29 * Double($0) / Double(count)
          return enters(interval, loss, at: arrival, isFull: isFull, seed: $0 &+ count)
        }
        print(
          isFull ? "full" : "reduced", interval, loss, Double(there) / Double(count),
          Double(visitors) / Double(count), separator: ",")
      }
    }
  }
}

func measureSpeed() {
  var air = Air(0.1, 0.3, Spells.all[0], seed: 1)
  let gaps = (0..<65536).map { _ in Float(air.gap()) }
  var learners = [GapLearner](repeating: GapLearner(), count: 100)
  let duration = ContinuousClock().measure {
    var learners = learners.mutableSpan
    for round in 0..<50_000 {
      for index in learners.indices {
        learners[index].learn(gap: gaps[(round &* 7 &+ index &* 31) & 65535])
      }
    }
  }
  let mean = learners.reduce(0) { $0 + $1.tail.timeout(falseExitsPerDay: 1) } / 100
  print("\(duration / 5_000_000) a gap; the mean limit is \(mean) s")
}

let arguments = CommandLine.arguments.dropFirst()
let days = arguments.dropFirst().first.flatMap { Double($0) } ?? 6
switch arguments.first {
case "goals": goals(days: max(days, 2))
case "trade": trade(days: max(days, 2))
case "start": start()
case "speed": measureSpeed()
default: print("usage: regions-trace goals [DAYS] | trade [DAYS] | start | speed")
}
