import Foundation
import TestSupport
import Testing

/// `beaconscan monitor` against what is known of the recordings.
@Suite(.blocking) struct MonitorTruthTests {
  /// A recording, and how far an entry may lie from the moment at which the beacon's mean signal rises to
  /// what can be heard, in seconds: a few of its intervals. At the edge of hearing, the beacon that is sent
  /// every 10 s is first heard after 17 s, and the one that arrives is heard once 16 s before.
  static let recordings = [("visitor", 0.5), ("lobby", 3.0), ("edge", 18.0)]

  /// Exactly the truth's entries and exits, of each beacon and of each UUID; nothing while nothing moves.
  @Test(arguments: recordings, [true, false])
  func crossings(recording: (name: String, tolerance: Double), byBeacon: Bool) throws {
    let truth = try Truth(recording.name)
    let uuids = Set(truth.beacons.map { String($0.prefix(36)) })
    let regions = byBeacon ? truth.beacons : uuids.sorted()
    let told = try MonitorRun(
      ["--replay", Command.capture("\(recording.name).btsnoop")]
        + regions.flatMap { ["--region", "\($0)=\($0)"] })
    #expect(told.run.status == 0 && told.run.error.isEmpty)
    for region in regions {
      let expected = truth.crossings(of: region)
      let events = told.crossings.filter { $0.region == region }
      #expect(events.map(\.type) == expected.map(\.type), "\(region)")
      for (event, mark) in zip(events, expected) {
        try expect(event, mark, of: truth, tolerance: recording.tolerance)
      }
      if events.count == 2, let dwell = events[1].dwell {
        #expect(abs(dwell - (events[1].time - events[0].time)) < 0.001)
      }
    }
    // What is not a crossing is that nothing was heard at first.
    for event in told.events where event.type == "state" {
      #expect(event.state == "outside" && event.rule == "start" && event.exitTimeout == 30)
    }
  }

  private func expect(
    _ event: MonitorRun.Event, _ mark: Truth.Mark, of truth: Truth, tolerance: Double
  ) throws {
    let heard = truth.heard(in: event.region)
    let last = try #require(event.lastSighting)
    if event.type == "enter" {
      #expect(event.rule == "sighting")
      // With the first packet that was heard.
      #expect(abs(event.time - (heard.first ?? 0)) < 1e-5 && event.time == last)
      #expect(
        abs(event.time - mark.time) <= tolerance, "\(event.region): \(event.time - mark.time)")
    } else {
      #expect(event.rule == "exitTimeout")
      #expect(abs(last - (heard.last ?? 0)) < 1e-5)
      let limit = try #require(event.exitTimeout)
      #expect(abs(event.time - last - limit) < 0.001)
      #expect(event.time > mark.time && event.time - mark.time <= limit)
    }
  }

  /// False exits, exits that were missed, and how late the others came, over the three recordings:
  /// docs/regions.md has the numbers.
  @Test(arguments: [
    ("adaptive", 0, 0, 7.1), ("10", 15, 1, 8.2), ("30", 4, 2, 26.4),
  ])
  func exits(limit: (exitAfter: String, false: Int, missed: Int, delay: Double)) throws {
    var (wrong, missed, delays) = (0, 0, [Double]())
    for (name, _) in Self.recordings {
      let truth = try Truth(name)
      let told = try MonitorRun(
        ["--replay", Command.capture("\(name).btsnoop"), "--exit-after", limit.exitAfter]
          + truth.beacons.flatMap { ["--region", "\($0)=\($0)"] })
      for beacon in truth.beacons {
        let mark = truth.crossings(of: beacon).last { $0.type == "exit" }
        let exits = told.crossings.filter { $0.region == beacon && $0.type == "exit" }
        let last = exits.last { $0.time > mark?.time ?? .infinity }
        wrong += exits.count - (last == nil ? 0 : 1)
        if let mark { last.map { delays.append($0.time - mark.time) } ?? (missed += 1) }
      }
    }
    let mean = delays.reduce(0, +) / Double(delays.count)
    #expect(wrong == limit.false && missed == limit.missed)
    #expect(abs(mean - limit.delay) < 0.1, "\(mean)")
  }
}
