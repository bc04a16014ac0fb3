import Advertising
import DequeModule
import Ranging
import Records
import Scanning

/// The last five minutes of each beacon's signal, with one sample a second.
struct SignalHistory: Sendable {
  static let maximumSamples = 300
  /// The most beacons, those received last. With 300 samples of 56 bytes each, they need 4.3 MB.
  static let maximumBeacons = 256

  private struct Line {
    var samples = Deque<SignalRecord.Sample>()
    var distance = Double.infinity
  }

  private var lines: [BeaconIdentity: Line] = [:]

  mutating func receive(_ beacons: [RangedBeacon], at time: WallClockTime) {
    let second = time.nanoseconds / WallClockTime.nanosecondsPerSecond
    for beacon in beacons.prefix(Self.maximumBeacons) {
      let sample = SignalRecord.Sample(
        time: second, rssi: beacon.rssi, smoothed: beacon.smoothed,
        distance: beacon.estimate?.distance)
      var line = lines[beacon.beacon] ?? Line()
      // Reports may arrive more often than once a second.
      if line.samples.last?.time == second { line.samples.removeLast() }
      line.samples.append(sample)
      if line.samples.count > Self.maximumSamples { line.samples.removeFirst() }
      line.distance = beacon.estimate?.distance ?? .infinity
      lines[beacon.beacon] = line
    }
    let oldest = second - Int64(Self.maximumSamples)
    lines = lines.filter { ($0.value.samples.last?.time ?? oldest) > oldest }
    while lines.count > Self.maximumBeacons,
      let old = lines.min(by: {
        ($0.value.samples.last?.time ?? 0, $1.value.distance)
          < ($1.value.samples.last?.time ?? 0, $0.value.distance)
      })
    {
      lines[old.key] = nil
    }
  }

  func nearest(_ count: Int) -> [SignalRecord] {
    lines.sorted { ($0.value.distance, $0.key) < ($1.value.distance, $1.key) }
      .prefix(count).map { SignalRecord(beacon: $0.key, samples: Array($0.value.samples)) }
  }
}
