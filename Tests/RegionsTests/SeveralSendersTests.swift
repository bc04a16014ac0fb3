import Regions
import Scanning
import TestSupport
import Testing

/// Exit timeouts of an identity that several beacons send, as badly provisioned ones do.
@Suite struct SeveralSendersTests {
  /// Beacons that send one identity, each with an address of its own.
  private struct Beacons {
    private var air: [Air]
    private var next: [Double]
    private var monitor = RegionMonitor()
    private(set) var changes: [RegionTransition] = []
    /// The seconds of the last sighting.
    private var time = 0.0

    init(_ air: [Air]) throws {
      self.air = air
      next = air.indices.map { 0.02 * Double($0) }
      try monitor.add(
        MonitoredRegion(
          identifier: "r", constraint: BeaconConstraint(uuid: home), rules: RegionRules()),
        assuming: .outside)
    }

    /// Plays so many beacons until a time in seconds. With `rotates`, each packet has a new address.
    mutating func play(_ count: Int, until end: Double, rotates: Bool = false) {
      while let place = next[..<count].indices.min(by: { next[$0] < next[$1] }), next[place] < end {
        time = next[place]
        let address = rotates ? 0x4000_0000_0000 + UInt64(time * 1e6) : UInt64(place + 1)
        changes += monitor.receive(sighting(time, address: address))
        next[place] += air[place].gap()
      }
    }

    /// Removes the beacons, and returns the seconds until the exit; 0 without one.
    mutating func exit() -> Double {
      let exits = monitor.advance(to: at(time + 3600)).filter { $0.change == .exit }
      return exits.first.map { $0.time.seconds(since: at(time)) } ?? 0
    }
  }

  private static func air(_ count: Int, interval: Double = 1, loss: Double = 0.5) -> [Air] {
    (0..<count).map { Air(interval: interval, loss: loss, seed: UInt64($0 + 1)) }
  }

  @Test func twoPacketsOfTwoBeaconsAreNoInterval() throws {
    var beacons = try Beacons(Self.air(2))
    beacons.play(2, until: 0.03)
    let exit = beacons.exit()
    #expect(exit == 30)
  }

  @Test func twoPacketsOfOneBeaconAreLittleEvidence() throws {
    var beacons = try Beacons(Self.air(1, interval: 0.1, loss: 0))
    beacons.play(1, until: 0.15)
    let exit = beacons.exit()
    #expect((20...30).contains(exit), "\(exit) s")
  }

  /// Several beacons are received for ten minutes, and one of them for a day: it is not left falsely.
  @Test(arguments: [6, 16]) func oneStaysInside(count: Int) throws {
    var beacons = try Beacons(Self.air(count))
    beacons.play(count, until: 600)
    beacons.play(1, until: 86400)
    let exits = beacons.changes.filter { $0.change == .exit }
    #expect(exits.count <= 2, "\(exits.map(\.time))")
    let timeout = beacons.exit()
    #expect((12...30).contains(timeout), "\(timeout) s; one beacon alone has 17")
  }

  /// A beacon that changes its private address with each packet is one beacon.
  @Test func anAddressForEachPacketIsOneBeacon() throws {
    var beacons = try Beacons(Self.air(1))
    beacons.play(1, until: 3600, rotates: true)
    let timeout = beacons.exit()
    #expect((12...30).contains(timeout), "\(timeout) s")
  }
}
