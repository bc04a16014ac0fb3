import Advertising
import RealModule
import Regions
import Scanning
import TestSupport
import Testing

/// A scanner that listens for a share of the time only.
@Suite struct DutyTests {
  /// A beacon's packets, and whether a window of 60 ms in 240 is open for each.
  private struct Station {
    var monitor = RegionMonitor()
    var exits = 0
    var random: SplitMix64
    let interval: Double
    let loss: Double
    var time = 0.0
    let phase: Double

    init(interval: Double, loss: Double, seed: UInt64) throws {
      (self.interval, self.loss) = (interval, loss)
      random = SplitMix64(seed: seed)
      phase = random.uniform()
      try monitor.add(
        MonitoredRegion(
          identifier: "r", constraint: BeaconConstraint(uuid: home), rules: .standard),
        assuming: .outside)
    }

    mutating func run(seconds: Double, fully: Bool) {
      monitor.dutyChanged(isFull: fully)
      let end = time + seconds
      while time < end {
        time += interval + 0.01 * random.uniform()
        let position = ((time + phase) / 0.24)
        let isOpen = fully || position - position.rounded(.down) < 0.25
        guard isOpen, random.uniform() >= loss else { continue }
        exits += monitor.receive(sighting(time)).count { $0.change == .exit }
      }
      exits += monitor.advance(to: at(time)).count { $0.change == .exit }
    }

    /// How long it takes until the beacon, which is gone now, counts as gone.
    mutating func leave() -> Double? {
      guard let exit = monitor.advance(to: at(time + 2000)).first(where: { $0.change == .exit })
      else { return nil }
      return exit.time.seconds(since: at(time))
    }
  }

  @Test(arguments: [0.1, 0.25, 0.5, 1.0])
  func listeningLessIsNoAbsence(interval: Double) throws {
    var exits = 0
    for seed in 1...20 {
      var station = try Station(interval: interval, loss: 0.1, seed: UInt64(seed))
      // An app ranges while somebody is near, and then only monitors, ten times.
      for _ in 0..<10 {
        station.run(seconds: 60, fully: true)
        station.run(seconds: 120, fully: false)
      }
      exits += station.exits
    }
    // 20 beacons over half an hour each: 10 h, and one exit a day is wanted.
    #expect(exits <= 4, "\(exits) exits at \(interval) s")
  }

  /// Of a radio that reports a beacon every tenth of a second, a silence of ten seconds is an absence; of one that
  /// reports it every ten seconds it is none.
  @Test func anotherReceiverIsLearntAnew() throws {
    var kept = try Station(interval: 0.1, loss: 0.1, seed: 1)
    kept.run(seconds: 120, fully: true)
    var renewed = kept
    renewed.monitor.receiverChanged()
    #expect(renewed.monitor.state(of: "r") == .inside)
    for number in 1...12 {
      let next = sighting(kept.time + 10 * Double(number))
      kept.exits += kept.monitor.receive(next).count { $0.change == .exit }
      renewed.exits += renewed.monitor.receive(next).count { $0.change == .exit }
    }
    #expect(kept.exits > 0)
    #expect(renewed.exits == 0)
  }

  @Test func whatWasLearntBeforeIsKnownAgain() throws {
    var station = try Station(interval: 0.1, loss: 0.1, seed: 3)
    station.run(seconds: 120, fully: true)
    station.run(seconds: 600, fully: false)
    station.run(seconds: 5, fully: true)
    let left = station.leave()
    let quick = try #require(left)
    #expect(quick < 4, "\(quick) s")
  }

  /// An app that ranges for three seconds of every ten neither keeps a beacon inside that is gone, nor loses one that stays.
  @Test(arguments: [0.1, 0.5, 1.0])
  func rangingAgainAndAgainKeepsNobodyInside(interval: Double) throws {
    var exits = 0
    for seed in 1...20 {
      var station = try Station(interval: interval, loss: 0.1, seed: UInt64(seed))
      for _ in 0..<180 {
        station.run(seconds: 3, fully: true)
        station.run(seconds: 7, fully: false)
      }
      exits += station.exits
      let gone = station.time
      var exit: MonotonicTime?
      while exit == nil, station.time < gone + 300 {
        for (seconds, fully) in [(3.0, true), (7.0, false)] {
          station.monitor.dutyChanged(isFull: fully)
          station.time += seconds
          let transitions = station.monitor.advance(to: at(station.time))
          exit = exit ?? transitions.first { $0.change == .exit }?.time
        }
      }
      let seconds = try #require(exit).seconds(since: at(gone))
      #expect(seconds < 60, "\(seconds) s at \(interval) s")
    }
    // 20 beacons over half an hour each: 10 h, and one exit a day is wanted.
    #expect(exits <= 4, "\(exits) exits at \(interval) s")
  }

  /// A limit that is configured counts from the last sighting, whatever the duty was since.
  @Test func aFixedLimitIsNotRestarted() throws {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home),
        rules: RegionRules(exitTimeout: .fixed(seconds: 70))), assuming: .outside)
    _ = monitor.receive(sighting(0))
    _ = monitor.receive(sighting(1))
    var exits: [String] = []
    for second in stride(from: 5.0, to: 200, by: 5) {
      monitor.dutyChanged(isFull: second.truncatingRemainder(dividingBy: 10) == 0)
      exits += monitor.advance(to: at(second)).compactMap(describe)
    }
    #expect(exits == ["71 exit exitTimeout"])
  }

  @Test func aFixedLimitStaysWhatItIs() throws {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home),
        rules: RegionRules(exitTimeout: .fixed(seconds: 10))), assuming: .outside)
    _ = monitor.receive(sighting(0))
    _ = monitor.receive(sighting(1))
    monitor.dutyChanged(isFull: false)
    #expect(monitor.advance(to: at(60)).compactMap(describe) == ["11 exit exitTimeout"])
  }
}
