import DBusMessages
import Foundation
import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// One drive through gpsd, through GeoClue and as tracks of GPX and NMEA: what the location service makes of it is the same.
@Suite(.blocking, .daemons) struct DriveTests {
  let scratch: Scratch
  let bus: BusDaemon
  let port: UInt16

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
    port = try freePort()
  }

  /// The environment variable of the form with visits, which takes 21 minutes.
  static let isLong = ProcessInfo.processInfo.environment["BEACONSCAN_LONG_DRIVE"] != nil

  /// What the service made of a drive.
  struct Outcome {
    var name: String
    var crossings: [(crossing: Drive.Crossing, second: Double)]
    var visits: [(arrival: Double?, departure: Double?)]
    /// The longest time from one fix to the next, by the receiver's clock.
    var gap: Double
    var fixes: Int
  }

  private func client(
    _ source: any LocationSource, on drive: Drive, visits: Bool, updates: Bool = true
  ) throws -> LocationListener {
    let client = LocationListener(source)
    for circle in drive.circles {
      try client.client.register(MonitoredCircle(circle))
    }
    if visits { try client.client.startVisits() }
    if updates { try client.start() }
    return client
  }

  /// Brings what a client received onto the receiver's clock, by the fixes of a client on the same source.
  private func outcome(
    _ name: String, of client: LocationListener, on drive: Drive, clock: LocationListener? = nil
  ) -> Outcome {
    let received = client.received
    let fixes = (clock ?? client).received.fixes
    func second(_ time: MonotonicTime) -> Double {
      guard let fix = fixes.last(where: { $0.time <= time }) ?? fixes.first else { return .nan }
      return drive.second(fix.timestamp) + time.seconds(since: fix.time)
    }
    let offset = client.service.wallClockOffset
    func second(_ time: WallClockTime) -> Double {
      let distance = time.seconds(
        since: MonotonicTime(nanoseconds: 0).wallClockTime(offset))
      return second(MonotonicTime(nanoseconds: 0).advanced(by: Int64(distance * 1e9)))
    }
    let seconds = fixes.map { drive.second($0.timestamp) }
    return Outcome(
      name: name,
      crossings: received.crossings.map {
        (Drive.Crossing(circle: $0.region, isEntry: $0.change == .enter), second($0.time))
      },
      visits: received.visits.map { ($0.arrival.map(second), $0.departure.map(second)) },
      gap: zip(seconds, seconds.dropFirst()).map { $1 - $0 }.max() ?? .infinity,
      fixes: fixes.count)
  }

  /// Replays the drive as a track of a format.
  private func replayed(_ format: String, _ drive: Drive, visits: Bool) throws -> Outcome {
    let file = "drive.\(format)"
    try scratch.write(Array((format == "GPX" ? drive.gpx : nmea(drive)).utf8), file)
    let replay = try TrackReplay(paths: [scratch[file]])
    let client = try client(replay, on: drive, visits: visits)
    #expect(client.receives(\.hasEnded))
    return outcome(format, of: client, on: drive)
  }

  private func nmea(_ drive: Drive) -> String {
    drive.points.indices.flatMap { drive.sentences($0) }.map(nmeaLine).joined()
  }

  private func log(_ drive: Drive) throws -> String {
    try scratch.write(Array("# drive\n\(nmea(drive))".utf8), "drive.log")
    return scratch["drive.log"]
  }

  /// Plays the drive to GeoClue, with so many microseconds from one point to the next, and where a client is given, each point
  /// only when the client has received the one before.
  private func receiver(
    _ drive: Drive, pace: UInt32, by client: @escaping @Sendable () -> LocationListener? = { nil }
  ) throws -> NMEAServer {
    try NMEAServer(at: scratch["nmea"]) { number in
      guard number <= drive.points.count else { return nil }
      usleep(pace)
      if number > 1, let client = client() {
        let before = Double(drive.points[number - 2].second)
        // One that GeoClue leaves out is not waited for.
        for _ in 0..<200
        where (client.received.fixes.last.map { drive.second($0.timestamp) } ?? -1) < before {
          usleep(5000)
        }
      }
      return Array(drive.sentences(number - 1).prefix(2))
    }
  }

  private static func print(_ outcomes: [Outcome], _ drive: Drive) {
    for outcome in outcomes {
      let delays = zip(outcome.crossings, drive.crossings).map {
        "\($0.crossing) \(String(format: "%.1f", $0.second - Double($1.second)))"
      }
      let visits = outcome.visits.map { "\($0.arrival ?? .nan)...\($0.departure ?? .nan)" }
      Swift.print(
        "drive: \(outcome.name): \(outcome.fixes) fixes, gap \(outcome.gap) s; crossings and their delay in s: "
          + "\(delays.joined(separator: ", "))\(visits.isEmpty ? "" : "; visits: \(visits)")")
    }
  }

  /// Twenty times as fast as the receiver drove: the demand for navigation is one for ten fixes a second, and no boundary
  /// counts as crossed in less than 0.9 s.
  @Test func crossingsAreTheSameThroughEachDaemonAndFromATrack() throws {
    let interval = 2
    let drive = try Drive(seed: 13, interval: interval, stay: 0, lead: 30)
    let expected = drive.crossings.map(\.crossing)
    #expect(expected.count == 10)
    let replays = try ["GPX", "NMEA"].map { try replayed($0, drive, visits: false) }
    let last = Double(drive.points.last?.second ?? 0)
    func hasArrived(_ received: LocationListener.Received) -> Bool {
      received.fixes.last.map { drive.second($0.timestamp) >= last } ?? false
    }
    let client = try client(
      GeoClueSource(bus: .address(bus.address)), on: drive, visits: false)
    let receiver = try receiver(drive, pace: 100_000) { [weak client] in client }
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address)

    // Where the machine is too slow, points are left out; then the drive is played slower.
    let log = try log(drive)
    var gpsd: Outcome?
    for cycle in [0.035, 0.1, 0.3] {
      let port = try freePort()
      let client = try self.client(
        GPSDSource(.tcp(host: "127.0.0.1", port: port)), on: drive, visits: false)
      let fake = try Daemon.gpsfake(log, on: port, cycle: cycle, output: scratch["gpsfake.log"])
      // The log begins anew at its end. At the slowest it takes minutes, in which fixes come.
      func hasEnded(_ received: LocationListener.Received) -> Bool {
        hasArrived(received)
          || zip(received.fixes, received.fixes.dropFirst()).contains {
            $0.timestamp > $1.timestamp
          }
      }
      var count = 0
      while !hasEnded(client.received),
        client.receives({ hasEnded($0) || $0.fixes.count > count })
      {
        count = client.received.fixes.count
      }
      #expect(hasEnded(client.received))
      fake.kill()
      gpsd = outcome("gpsd", of: client, on: drive)
      if let gap = gpsd?.gap, gap <= Double(3 * interval), hasArrived(client.received) { break }
    }
    #expect(client.receives(hasArrived))
    let outcomes = replays + [try #require(gpsd), outcome("GeoClue", of: client, on: drive)]
    Self.print(outcomes, drive)
    for outcome in outcomes {
      #expect(outcome.crossings.map(\.crossing) == expected, "\(outcome.name)")
      // Two fixes beyond the boundary decide, or those of 0.9 s, which are ten.
      for (crossing, truth) in zip(outcome.crossings, drive.crossings) {
        let delay = crossing.second - Double(truth.second)
        #expect(
          (0...Double(10 * interval) + 3 * outcome.gap).contains(delay),
          "\(outcome.name): \(crossing)")
      }
      #expect(outcome.gap <= Double(3 * interval), "\(outcome.name)")
    }
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  /// In the time that it takes, with visits, and for clients that need every fix as for those that need circles and visits
  /// alone, for which the daemons rest in between.
  @Test(.enabled(if: isLong)) func crossingsAndVisitsAreTheSameInRealTime() throws {
    let drive = try Drive(seed: 13, interval: 1, stay: 360, lead: 20, isInRealTime: true)
    let expected = drive.crossings.map(\.crossing)
    let replay = try replayed("GPX", drive, visits: true)
    let nmea = try replayed("NMEA", drive, visits: true)
    let gpsdSource = { GPSDSource(.tcp(host: "127.0.0.1", port: port)) }
    let gpsd = try client(gpsdSource(), on: drive, visits: true)
    let sparingGPSD = try client(gpsdSource(), on: drive, visits: true, updates: false)
    let address = bus.address
    let geoClueSource = { GeoClueSource(bus: .address(address)) }
    let geoClue = try client(geoClueSource(), on: drive, visits: true)
    let sparingGeoClue = try client(geoClueSource(), on: drive, visits: true, updates: false)
    let receiver = try receiver(drive, pace: 1_000_000)
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(address)
    let fake = try Daemon.gpsfake(
      try log(drive), on: port, cycle: 0.995 / 3, output: scratch["gpsfake.log"])
    let last = Double(drive.points.last?.second ?? 0)
    func hasArrived(_ client: LocationListener) -> Bool {
      client.received.fixes.contains { drive.second($0.timestamp) >= last - 2 }
    }
    while !hasArrived(gpsd) { sleep(1) }
    // The log begins anew at its end.
    fake.kill()
    while !hasArrived(geoClue) { sleep(1) }
    let outcomes = [
      replay, nmea, outcome("gpsd", of: gpsd, on: drive),
      outcome("GeoClue", of: geoClue, on: drive),
      outcome("gpsd, circles and visits alone", of: sparingGPSD, on: drive, clock: gpsd),
      outcome("GeoClue, circles and visits alone", of: sparingGeoClue, on: drive, clock: geoClue),
    ]
    Self.print(outcomes, drive)
    Swift.print("drive: stays \(drive.stays)")
    // Two arrivals, and the departure from the first place.
    #expect(replay.visits.count == 3)
    for (index, outcome) in outcomes.enumerated() {
      let limit = index < 4 ? 10.0 : 60
      #expect(outcome.crossings.map(\.crossing) == expected, "\(outcome.name)")
      for (crossing, other) in zip(outcome.crossings, replay.crossings) {
        #expect(abs(crossing.second - other.second) <= limit, "\(outcome.name): \(crossing)")
      }
      #expect(outcome.visits.count == replay.visits.count, "\(outcome.name)")
      for (visit, other) in zip(outcome.visits, replay.visits) {
        #expect((visit.departure == nil) == (other.departure == nil), "\(outcome.name)")
        for (own, replayed) in [(visit.arrival, other.arrival), (visit.departure, other.departure)]
        {
          guard let own, let replayed else { continue }
          #expect(abs(own - replayed) <= limit, "\(outcome.name): \(visit)")
        }
      }
    }
    withExtendedLifetime((receiver, geoclue, agent, fake)) {}
  }
}
