import Advertising
import CaptureFiles
import FoundationEssentials
import Ranging
import Scanning

/// A shipped recording, ranged once a second as the command does.
struct Replayed {
  /// Each report with the second of the day at which it was made.
  private(set) var reports: [(second: Double, beacons: [RangedBeacon])] = []

  init(_ file: String, configuration: Ranger.Configuration = Ranger.Configuration()) throws {
    let replay = try ReplayScanner(paths: [Truth.captures.appending(path: file).path])
    var ranger = Ranger(configuration)
    var due: MonotonicTime?
    var sightings: [Sighting] = []
    var progress = ScanProgress()
    while !progress.isOver {
      progress = try replay.receive(for: .ranging, until: nil, into: &sightings)
      for sighting in sightings {
        while let time = due, time <= sighting.time {
          reports.append(
            (Truth.second(of: time.wallClockTime(.zero).description), ranger.report(at: time)))
          due = time.advanced(by: MonotonicTime.nanosecondsPerSecond)
        }
        ranger.receive(sighting)
        due = due ?? progress.began?.advanced(by: MonotonicTime.nanosecondsPerSecond)
      }
    }
  }

  /// The zones that a beacon was reported in, in order, with the second of the first such report.
  func zones(of beacon: BeaconIdentity) -> [(name: String, second: Double)] {
    var zones: [(String, Double)] = []
    for report in reports {
      guard let found = report.beacons.first(where: { $0.beacon == beacon }) else { continue }
      let name = "\(found.proximity)"
      if found.proximity != .unknown, name != zones.last?.0 { zones.append((name, report.second)) }
    }
    return zones
  }
}
