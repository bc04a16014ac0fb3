import Advertising
import Ranging
import Scanning
import TestSupport
import Testing

/// What remains of a beacon that is not received for a while.
@Suite struct AbsenceTests {
  private func sighting(_ seconds: Double, rssi: Int8 = -60) -> Sighting {
    Sighting(
      time: at(seconds), wallTime: at(seconds).wallClockTime(.zero),
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 1),
      measuredPower: -59, rssi: rssi, address: BluetoothAddress(rawValue: 1), addressType: .random)
  }

  private func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1e9))
  }

  /// Reports once a second from one time to another, as callers do, and returns the last report.
  private func report(_ ranger: inout Ranger, _ seconds: ClosedRange<Int>) -> [RangedBeacon] {
    var last: [RangedBeacon] = []
    for second in seconds { last = ranger.report(at: at(Double(second))) }
    return last
  }

  /// Forty packets at 10 s; the beacon leaves the list, and comes back 4 dB weaker.
  @Test func aSlowBeaconComesBackAsItWasKnown() throws {
    var ranger = Ranger()
    var random = SplitMix64(seed: 1)
    for index in 0..<40 {
      ranger.receive(
        sighting(Double(index) * 10, rssi: Int8((-70 + 3 * random.normal()).rounded())))
      _ = report(&ranger, index * 10...index * 10 + 9)
    }
    let before = try #require(ranger.report(at: at(400)).first)
    #expect(report(&ranger, 401...459).isEmpty)
    ranger.receive(sighting(460, rssi: -74))
    let after = try #require(ranger.report(at: at(460)).first)
    let (error, known) = (try #require(after.smoothedError), try #require(before.smoothedError))
    #expect(known < 1.3 && error < 1.3 * known, "\(known) dB before, \(error) dB after")
    let (mean, was) = (try #require(after.smoothed), try #require(before.smoothed))
    #expect((mean - was).magnitude < 1.5, "\(was) dBm before, \(mean) dBm after")
    #expect(after.firstReceived == at(460) && after.sightings == 1)
    #expect(ranger.beaconsReceived == 1)
  }

  /// A longer silence takes the signal and the zone, but not what was learned of the noise.
  @Test func theNoiseOutlastsTheSignal() throws {
    func comesBack(after seconds: Int) throws -> RangedBeacon {
      var ranger = Ranger()
      for index in 0..<4000 { ranger.receive(sighting(Double(index) * 0.1, rssi: -60)) }
      _ = report(&ranger, 400...400 + seconds)
      for packet in 0..<3 {
        ranger.receive(sighting(Double(400 + seconds) + 0.2 * Double(packet), rssi: -80))
      }
      return try #require(ranger.report(at: at(Double(400 + seconds) + 1)).first)
    }
    let soon = try comesBack(after: 60)
    #expect(soon.smoothed == -80 && soon.proximity == .far)
    let known = try #require(soon.smoothedError)
    // After an hour nothing is left.
    let late = try comesBack(after: 3700)
    #expect(late.smoothed == -80 && late.proximity == .far)
    #expect(try #require(late.smoothedError) > 2 * known)
  }

  /// A beacon that is between the limits of a zone that it entered stays in it, whether it was unknown or not: one that
  /// came there anew would be in the next.
  @Test(arguments: [(Int8(-50), Int8(-54), Proximity.immediate), (-68, -72, .near)])
  func theZoneOutlastsAnUnknown(inside: Int8, between: Int8, zone: Proximity) {
    var ranger = Ranger()
    for index in 0..<60 {
      ranger.receive(sighting(Double(index) * 10, rssi: index < 30 ? inside : between))
      let now = report(&ranger, index * 10 + 1...index * 10 + 9).first?.proximity
      // After one packet its interval is not known: 9 s are a long silence.
      #expect(now == (index == 0 ? .unknown : zone))
    }
    #expect(report(&ranger, 600...630).first?.proximity == .unknown)
    for index in 64..<70 {
      ranger.receive(sighting(Double(index) * 10, rssi: between))
      #expect(report(&ranger, index * 10 + 1...index * 10 + 9).first?.proximity == zone)
    }
  }

  /// A beacon whose reception was lost may be there still.
  @Test func itStaysInTheListForAsMuchLonger() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    ranger.receptionLost(from: at(12), to: at(100))
    // Ten seconds of reception: two before the loss, eight after. Its distance is not known.
    #expect(ranger.report(at: at(106)).map(\.proximity) == [.unknown])
    #expect(ranger.report(at: at(106.9)).count == 1)
    #expect(ranger.report(at: at(107.1)).isEmpty)
    // A loss does not bring back what has left.
    ranger.receptionLost(from: at(107.1), to: at(120))
    #expect(ranger.report(at: at(120)).isEmpty)
  }

  @Test func aLossBeforeTheLastSightingDoesNotCount() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    // Noticed late, and part of it before the beacon was received.
    ranger.receptionLost(from: at(2), to: at(5))
    ranger.receptionLost(from: at(6), to: at(12))
    #expect(ranger.report(at: at(21.9)).count == 1)
    ranger.receive(sighting(22))
    // Received again, it counts from there.
    #expect(ranger.report(at: at(32)).count == 1)
    #expect(ranger.report(at: at(40)).isEmpty)
  }

  @Test func severalLossesAddUp() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    ranger.receptionLost(from: at(10), to: at(20))
    ranger.receptionLost(from: at(21), to: at(41))
    #expect(ranger.report(at: at(48.9)).count == 1)
    #expect(ranger.report(at: at(49.1)).isEmpty)
  }
}
