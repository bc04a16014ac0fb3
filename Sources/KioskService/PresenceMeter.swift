package import Advertising
package import Ranging
package import Scanning
package import Storage

/// Accumulates how long each beacon was received in each hour.
package struct PresenceMeter: Sendable {
  static let maximumBeacons = 4096
  private static let interval = 60.0
  /// The longest time between two reports that counts, in seconds.
  private static let longestGap = 5.0

  private struct Hour: Sendable {
    var hour: Int64
    var seconds = 0.0
    var sightings: Int64 = 0
    var samples: Int64 = 0
    var sumRSSI = 0.0
    var bestRSSI: Int64?
  }

  private var hours: [BeaconIdentity: Hour] = [:]
  private var latest: WallClockTime?
  private var written: WallClockTime?

  package init() {}

  package mutating func receive(_ beacons: [RangedBeacon], at time: WallClockTime) {
    let hour = time.nanoseconds / (3600 * WallClockTime.nanosecondsPerSecond)
    let gap = latest.map { min(Self.longestGap, max(0, time.seconds(since: $0))) } ?? 1
    latest = time
    if written == nil { written = time }
    for beacon in beacons where beacon.sightings > 0 {
      guard hours[beacon.beacon] != nil || hours.count < Self.maximumBeacons else { continue }
      // The minute in which an hour ends counts for the hour in which it began.
      var line = hours[beacon.beacon] ?? Hour(hour: hour)
      line.seconds += gap
      line.sightings += Int64(beacon.sightings)
      if let rssi = beacon.rssi {
        line.samples += Int64(beacon.sightings)
        line.sumRSSI += Double(rssi * beacon.sightings)
        line.bestRSSI = max(line.bestRSSI ?? Int64(rssi), Int64(rssi))
      }
      hours[beacon.beacon] = line
    }
  }

  package func isDue(at time: WallClockTime) -> Bool {
    written.map { abs(time.seconds(since: $0)) >= Self.interval } ?? false
  }

  /// Removes and returns the presence since the last call. Protected beacons are stored regardless
  /// of the number of others.
  package mutating func removeAll(
    isProtected: (BeaconIdentity) -> Bool
  ) -> [StoredPresence] {
    written = latest
    defer { hours = [:] }
    return hours.map { beacon, line in
      StoredPresence(
        beacon: beacon.key, hour: line.hour, seconds: line.seconds, sightings: line.sightings,
        samples: line.samples,
        meanRSSI: line.samples > 0 ? line.sumRSSI / Double(line.samples) : nil,
        bestRSSI: line.bestRSSI, isProtected: isProtected(beacon))
    }
  }
}

extension BeaconIdentity {
  /// The beacon as `UUID:MAJOR:MINOR`.
  var key: String { "\(uuid):\(major):\(minor)" }
}
