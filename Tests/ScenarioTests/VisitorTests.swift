import Advertising
import Ranging
import Testing

/// The visitor who comes, stays and leaves, and two beacons that stand still.
@Suite struct VisitorTests {
  /// Zones change as the truth says, in that order, none while the visitor stands still, each at
  /// most five seconds late: two of walking noise, one between reports, two of the filter.
  @Test func zonesAreTheTruths() throws {
    let truth = try Truth("visitor").zones
    let replayed = try Replayed("visitor.btsnoop")
    #expect(truth.count == 3)
    for (beacon, zones) in truth {
      let heard = replayed.zones(of: beacon)
      #expect(heard.map(\.name) == zones.map(\.name), "\(beacon)")
      for (is_, should) in zip(heard, zones) {
        #expect((0...6).contains(is_.second - should.second), "\(is_) for \(should)")
      }
    }
  }

  @Test func twoRunsAreTheSame() throws {
    let first = try Replayed("visitor.btsnoop").reports.flatMap(\.beacons)
    let second = try Replayed("visitor.btsnoop").reports.flatMap(\.beacons)
    #expect(first.map(\.estimate) == second.map(\.estimate))
    #expect(first.map(\.rssi) == second.map(\.rssi))
    #expect(!first.isEmpty)
  }
}
