// Ranging: sightings of any strength, power and time, with reports between them. Input: a byte of
// choices, settings that need not be numbers, then steps.

import Advertising
import Ranging
import Scanning

func check(_ bytes: [UInt8]) {
  var feed = Feed(bytes)
  let configuration = configuration(&feed)
  var ranger = Ranger(configuration)
  var twin = Ranger(configuration)  // with another seed for its hashes
  var heard: [BeaconIdentity: Period] = [:]
  var time: Int64 = 1_767_225_600_000_000_000
  var latest = time
  var last = ranger.report(at: MonotonicTime(nanoseconds: time))
  require(last.isEmpty, "beacons out of nothing")
  while !feed.isEmpty {
    let step = feed.byte()
    time = advance(time, by: step, &feed)
    latest = max(latest, time)
    if step & 0x0F == 0x0F {
      let moment = MonotonicTime(nanoseconds: step & 0x10 == 0 ? latest : time)
      let report = ranger.report(at: moment)
      checkReport(report, heard, evictions: ranger.evictions, configuration)
      require(isSame(report, twin.report(at: moment)), "the hashes' seed shows")
      heard = [:]
      last = ranger.report(at: moment)
      _ = twin.report(at: moment)
      require(last.allSatisfy { $0.sightings == 0 && $0.rssi == nil }, "counted in two periods")
    } else {
      let sighting = sighting(at: time, &feed)
      ranger.receive(sighting)
      twin.receive(sighting)
      heard[sighting.beacon, default: Period()].add(sighting)
    }
    require(ranger.beaconsReceived >= heard.count, "fewer beacons than were heard")
  }
  let end = ranger.report(at: MonotonicTime(nanoseconds: latest))
  checkReport(end, heard, evictions: ranger.evictions, configuration)
}

/// What one beacon was heard to say since the report before.
private struct Period {
  var sightings = 0
  var weakest = Int8.max
  var strongest = Int8.min

  mutating func add(_ sighting: Sighting) {
    sightings += 1
    guard let rssi = sighting.rssi else { return }
    weakest = min(weakest, rssi)
    strongest = max(strongest, rssi)
  }
}

private func checkReport(
  _ report: [RangedBeacon], _ heard: [BeaconIdentity: Period], evictions: Int,
  _ configuration: Ranger.Configuration
) {
  require(report.count <= configuration.maximumBeacons, "\(report.count) beacons are kept")
  require(Set(report.map(\.beacon)).count == report.count, "a beacon stands twice")
  var farthest = 0.0
  for beacon in report {
    let period = heard[beacon.beacon] ?? Period()
    require(evictions > 0 || beacon.sightings == period.sightings, "\(beacon.sightings) sightings")
    require(
      (beacon.estimate != nil) == (beacon.proximity != .unknown),
      "a distance without a zone, or a zone without: \(beacon)")
    if let rssi = beacon.rssi, evictions == 0 {
      require(rssi >= Int(period.weakest) && rssi <= Int(period.strongest), "a mean of \(rssi)")
    }
    let distance = beacon.estimate?.distance ?? .infinity
    require(distance >= farthest, "\(distance) m stands behind \(farthest) m")
    farthest = distance
    if let estimate = beacon.estimate { checkEstimate(estimate) }
    for value in [beacon.smoothed, beacon.smoothedError, beacon.rawDistance] {
      require(value?.isFinite ?? true, "\(beacon)")
    }
    require(beacon.smoothed.map { $0 >= -128.01 && $0 <= 127.01 } ?? true, "\(beacon)")
    require(beacon.smoothedError.map { $0 >= 0 } ?? true, "\(beacon)")
    require(beacon.rawDistance.map(PathLossModel.distanceRange.contains) ?? true, "\(beacon)")
  }
}

private func checkEstimate(_ estimate: DistanceEstimate) {
  require(PathLossModel.distanceRange.contains(estimate.distance), "\(estimate)")
  require((-100..<0).contains(estimate.power.decibelMilliwatts), "\(estimate)")
  require(estimate.logDeviation >= 0, "\(estimate)")
  require(estimate.factor >= 1 && estimate.factor.isFinite, "\(estimate)")
  require(estimate.standardDeviation >= 0 && estimate.standardDeviation.isFinite, "\(estimate)")
  var width = 0.0
  for coverage in [0, 0.5, 0.95, 0.999_999, 1, .nan] {
    let (low, high) = estimate.interval(coverage: coverage)
    require(low > 0 && high.isFinite, "\(estimate): \(low) to \(high)")
    // A share of 0 gives the median, but for the last digits of the quantile.
    let distance = estimate.distance
    require(low <= distance * 1.000_001 && high >= distance * 0.999_999, "\(estimate)")
    if coverage <= 1 {
      require(high - low >= width * 0.999_999, "\(estimate): the interval shrinks")
      width = high - low
    }
  }
}

private func isSame(_ left: [RangedBeacon], _ right: [RangedBeacon]) -> Bool {
  left.elementsEqual(right) {
    $0.beacon == $1.beacon && $0.proximity == $1.proximity && $0.estimate == $1.estimate
      && $0.rawDistance == $1.rawDistance && $0.smoothed == $1.smoothed
      && $0.sightings == $1.sightings && $0.lastReceived == $1.lastReceived
  }
}

private func advance(_ time: Int64, by step: UInt8, _ feed: inout Feed) -> Int64 {
  switch step >> 5 {
  case 0: time
  case 1: time &+ 1_000_000 * Int64(feed.byte())
  case 2: time &+ 100_000_000
  case 3: time &+ 1_000_000_000
  case 4: time &+ 10_000_000_000 * Int64(feed.byte())
  case 5: time &- 1_000_000 * Int64(feed.byte())
  case 6: time &- 60_000_000_000
  default: Int64(bitPattern: feed.word())
  }
}

private func sighting(at time: Int64, _ feed: inout Feed) -> Sighting {
  let number = UInt16(feed.byte())
  let power = Int8(bitPattern: feed.byte())
  let rssi = Int8(bitPattern: feed.byte())
  return Sighting(
    time: MonotonicTime(nanoseconds: time), wallTime: WallClockTime(nanoseconds: time),
    beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: number),
    measuredPower: power, rssi: rssi == 127 ? nil : rssi, address: BluetoothAddress(rawValue: 1),
    addressType: .random)
}

private func configuration(_ feed: inout Feed) -> Ranger.Configuration {
  let choices = feed.byte()
  var configuration = Ranger.Configuration()
  configuration.maximumBeacons = choices & 1 == 0 ? 8 : 1000
  var calibration = Calibration()
  if choices & 2 != 0 { calibration.measuredPower = number(&feed) }
  if choices & 4 != 0 { calibration.adapterOffset = number(&feed) }
  switch choices >> 3 & 3 {
  case 1: calibration.model = .logDistance(exponent: number(&feed))
  case 2: calibration.model = .androidNexus5
  case 3: calibration.model = .android2013
  default: break
  }
  if choices & 0x20 != 0 { calibration.budget.shadowing = number(&feed) }
  if choices & 0x40 != 0 {
    let beacons = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 1)
    configuration.beaconCalibrations = [(beacons, Calibration(measuredPower: number(&feed)))]
  }
  if choices & 0x80 != 0 {
    let (a, b, c, d) = (number(&feed), number(&feed), number(&feed), number(&feed))
    if let limits = try? ProximityLimits(
      enterImmediate: a, leaveImmediate: b, enterNear: c, leaveNear: d)
    {
      require(0 < a && a < b && b <= c && c < d && d.isFinite, "limits that cannot be")
      configuration.limits = limits
    }
  }
  configuration.calibration = calibration
  return configuration
}

/// Any number, or what is none; small ones by one byte.
private func number(_ feed: inout Feed) -> Double {
  let kind = feed.byte()
  return kind == 0xFF ? Double(bitPattern: feed.word()) : Double(Int8(bitPattern: kind)) / 2
}
