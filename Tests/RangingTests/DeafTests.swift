import Advertising
import Ranging
import Scanning
import Testing

/// Of a beacon that could not be heard nobody knows that it has gone.
@Suite struct DeafTests {
  private func sighting(_ seconds: Double) -> Sighting {
    Sighting(
      time: at(seconds), wallTime: at(seconds).wallClockTime(.zero),
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 1),
      measuredPower: -59, rssi: -60, address: BluetoothAddress(rawValue: 1), addressType: .random)
  }

  private func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1e9))
  }

  @Test func itStaysInTheListForAsMuchLonger() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    ranger.receptionLost(from: at(12), to: at(100))
    // Ten seconds of hearing: two before it was deaf, eight after. Where it is is not known.
    #expect(ranger.report(at: at(106)).map(\.proximity) == [.unknown])
    #expect(ranger.report(at: at(106.9)).count == 1)
    #expect(ranger.report(at: at(107.1)).isEmpty)
  }

  @Test func deafnessBeforeTheLastSightingDoesNotCount() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    // Noticed late, and part of it before it was heard.
    ranger.receptionLost(from: at(2), to: at(5))
    ranger.receptionLost(from: at(6), to: at(12))
    #expect(ranger.report(at: at(21.9)).count == 1)
    ranger.receive(sighting(22))
    // Heard again, it counts from there.
    #expect(ranger.report(at: at(32)).count == 1)
    #expect(ranger.report(at: at(40)).isEmpty)
  }

  @Test func severalSpellsAddUp() {
    var ranger = Ranger()
    for second in 0..<10 { ranger.receive(sighting(Double(second))) }
    ranger.receptionLost(from: at(10), to: at(20))
    ranger.receptionLost(from: at(21), to: at(41))
    #expect(ranger.report(at: at(48.9)).count == 1)
    #expect(ranger.report(at: at(49.1)).isEmpty)
  }
}
