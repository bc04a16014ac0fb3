import Positioning
import Scanning
import TestSupport
import Testing

@testable import ServiceCore

@Suite struct GroupDetectorsTests {
  /// Each client that starts significant changes receives one fix first, however starts, stops, fixes and removals
  /// follow one another; changes are five minutes apart, and each arrival is followed by its departure.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func whateverTheOrderEachClientHasAFirstFix(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let start = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    var detectors = GroupDetectors()
    var (second, meters, speed) = (0.0, 0.0, 0.0)
    var latest: Fix?
    /// The clients that started changes, each with whether it has received a fix.
    var clients: [ClientIdentifier: Bool] = [:]
    var arrival: Visit?
    var change: MonotonicTime?

    func receive(_ events: [GroupDetectors.Event]) {
      for event in events {
        switch event {
        case .first(_, let client):
          #expect(clients.updateValue(true, forKey: client) == false, "it has received one")
        case .significantChange(let fix):
          for client in clients.keys { clients[client] = true }
          if let change { #expect(fix.time.seconds(since: change) > 0) }
          change = fix.time
        case .visit(let visit):
          #expect((visit.departure == nil) == (arrival == nil) || visit.arrival == nil)
          arrival = visit.departure == nil ? visit : nil
        }
      }
    }

    for _ in 0..<1500 {
      let client = ClientIdentifier(rawValue: UInt64.random(in: 1...4, using: &random))
      switch Int.random(in: 0..<40, using: &random) {
      case 0, 1:
        let isFirst = clients[client] == nil
        if isFirst { clients[client] = false }
        // The application may not have the latest fix always.
        let known = random.uniform() < 0.5 ? latest : nil
        let events = detectors.startChanges(for: client, latest: known)
        #expect(isFirst || events.isEmpty)
        receive(events)
        if known != nil, isFirst { #expect(clients[client] == true) }
      case 2 where random.uniform() < 0.2:
        detectors.stopChanges()
        (clients, change) = ([:], nil)
      case 3:
        // The next start of the client is its first again.
        detectors.remove(client)
        clients[client] = nil
      case 4: detectors.startVisits()
      case 5 where random.uniform() < 0.1:
        detectors.stopVisits()
        arrival = nil
      case 6: speed = random.uniform() < 0.6 ? 0 : random.uniform(-20, 20)
      case 7:
        second += random.uniform(0, 60)
        receive(detectors.advance(to: MonotonicTime(nanoseconds: Int64(second * 1e9))))
      default:
        let step = random.uniform(1, 60)
        (second, meters) = (second + step, meters + speed * step)
        let fix = Fix(
          time: MonotonicTime(nanoseconds: Int64(second * 1e9)),
          timestamp: WallClockTime(nanoseconds: 0), place: start.moved(meters, toward: 0),
          horizontalAccuracy: 10)
        if random.uniform() < 0.2 {
          #expect(
            detectors.rest(at: latest ?? fix).allSatisfy {
              if case .visit = $0 { true } else { false }
            })
        }
        latest = fix
        receive(detectors.receive(fix))
        #expect(clients.values.allSatisfy { $0 }, "a client waits for its first fix")
      }
      #expect((detectors.changeRule != nil) || clients.isEmpty)
      #expect(
        detectors.requests.count
          == (detectors.visits == nil ? 0 : 1) + (detectors.changeRule == nil ? 0 : 1))
    }
  }
}
