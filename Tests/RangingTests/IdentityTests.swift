import Advertising
import Ranging
import Scanning
import TestSupport
import Testing

/// Identities that several senders use, and measured powers that cannot be.
@Suite struct IdentityTests {
  struct Sender {
    var address: UInt64
    var type = AddressType.random
    var rssi: Int
    /// How often it sends, in seconds, and from when until when.
    var interval = 0.5
    var times = 0.0...60.0
    var power: Int8 = -59
  }

  /// A random static address, and one that is resolvable.
  static let (fixed, other, private1, private2): (UInt64, UInt64, UInt64, UInt64) = (
    0xC0BE_AC00_0001, 0xEF69_636B_8F59, 0x4A11_2233_4455, 0x5B66_7788_99AA
  )

  /// What is found while senders use one identity.
  static func findings(_ senders: Sender...) -> [IdentityFinding] { findings(senders) }

  static func findings(_ senders: [Sender]) -> [IdentityFinding] {
    var random = SplitMix64(seed: 3)
    var sightings: [Sighting] = []
    for sender in senders {
      for time in stride(
        from: sender.times.lowerBound, to: sender.times.upperBound, by: sender.interval)
      {
        let at = MonotonicTime(nanoseconds: Int64((time + 0.1 * random.uniform()) * 1e9))
        let noise = Int(6 * random.uniform()) - 3
        sightings.append(
          Sighting(
            time: at, wallTime: at.wallClockTime(.zero),
            beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 6, minor: 1),
            measuredPower: sender.power, rssi: Int8(sender.rssi + noise),
            address: BluetoothAddress(rawValue: sender.address), addressType: sender.type))
      }
    }
    var ranger = Ranger()
    var findings: [IdentityFinding] = []
    var due = 1.0
    for sighting in sightings.sorted(by: { $0.time < $1.time }) {
      while Double(sighting.time.nanoseconds) >= due * 1e9 {
        _ = ranger.report(at: MonotonicTime(nanoseconds: Int64(due * 1e9)))
        due += 1
      }
      ranger.receive(sighting)
      findings += ranger.identities.removeFindings()
    }
    return findings
  }

  @Test func aCloneIsFoundOnce() throws {
    let findings = Self.findings(
      Sender(address: Self.fixed, rssi: -60), Sender(address: Self.other, rssi: -44, interval: 0.3))
    try #require(findings.count == 1)
    guard case .severalSenders(let senders) = findings[0].problem else {
      Issue.record("\(findings[0])")
      return
    }
    #expect(senders.map(\.address.rawValue) == [Self.other, Self.fixed])
    #expect(abs((senders[0].rssi ?? 0) + 44) < 3 && abs((senders[1].rssi ?? 0) + 60) < 3)
    // Before ten seconds are over.
    #expect(findings[0].time.nanoseconds < 10_000_000_000)
    #expect("\(findings[0])".contains("2 senders at once: EF:69:63:6B:8F:59 at -4"))
  }

  /// Each of many badly provisioned beacons is named.
  @Test func sixBeaconsOfOneIdentityAreFound() throws {
    let findings = Self.findings(
      (0..<6).map {
        Sender(
          address: Self.fixed + UInt64($0), rssi: -60 - 3 * $0, interval: 1 + 0.013 * Double($0))
      })
    try #require(findings.count == 1)
    #expect("\(findings[0])".contains("is sent by 6 senders at once"), "\(findings[0])")
  }

  /// Two fixed addresses are two devices, however alike their signals.
  @Test func aCloneAtTheSameDistanceIsFound() {
    #expect(
      Self.findings(
        Sender(address: Self.fixed, rssi: -60),
        Sender(address: Self.other, type: .public, rssi: -60)
      ).count == 1)
  }

  /// A relay with a private address is known by its signal.
  @Test func aPrivateAddressIsFoundByItsSignal() {
    #expect(
      Self.findings(
        Sender(address: Self.fixed, rssi: -75), Sender(address: Self.private1, rssi: -50)
      ).count == 1)
    // One device may use several private addresses, for several advertising sets.
    #expect(
      Self.findings(
        Sender(address: Self.private1, rssi: -60), Sender(address: Self.private2, rssi: -60)
      ).isEmpty)
  }

  /// A private address that is changed does not come back.
  @Test func addressesThatChangeAreNormal() {
    let senders = (0..<6).map { (number: Int) -> Sender in
      let start = Double(number) * 2
      return Sender(
        address: 0x4000_0000_0000 + UInt64(number), rssi: -60 + number % 2 * 15,
        times: start...(start + 2))
    }
    #expect(Self.findings(senders).isEmpty)
  }

  @Test(arguments: [
    (Int8(-127), -60, 1), (0, -75, 1), (4, -70, 1), (-59, -45, 0), (-90, -45, 1), (-59, -90, 0),
  ])
  func aPowerThatContradictsTheSignal(power: Int8, rssi: Int, found: Int) {
    let findings = Self.findings(Sender(address: Self.fixed, rssi: rssi, power: power))
    #expect(findings.count == found)
    #expect(
      findings.allSatisfy {
        if case .measuredPower(power, _) = $0.problem { true } else { false }
      })
  }
}
