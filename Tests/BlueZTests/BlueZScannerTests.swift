import Advertising
import BeaconTesting
import DBusMessages
import Glibc
import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// The scanner on a bus of its own, with a bluetoothd that does as the tests say.
@Suite(.blocking) struct BlueZScannerTests {
  let scratch: Scratch
  let bus: BusDaemon

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
  }

  static let device = "/org/bluez/hci0/dev_C0_00_00_00_00_01"
  static let identity = BeaconIdentity(
    uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1,
    minor: 2)

  /// The properties of a device that advertises an iBeacon frame.
  static func values(
    rssi: Int16? = nil, minor: UInt16 = 2, data: [UInt8]? = nil
  ) -> [String: BusValue] {
    var identity = identity
    identity.minor = minor
    let frame = IBeacon(identity: identity, measuredPower: -59).manufacturerData
    let bytes = data ?? Array(frame.dropFirst(2))
    var values: [String: BusValue] = [
      "ManufacturerData": .dictionary(
        key: "q", value: "v", [BusValue.Entry(.uint16(0x004C), .variant(.bytes(bytes)))])
    ]
    if let rssi { values["RSSI"] = .int16(rssi) }
    return values
  }

  func scanner() -> BlueZScanner {
    BlueZScanner(bus: .address(bus.address))
  }

  /// A state is reported anew after a rest, as it is then: the same one, a fault that ended, and one that began.
  @Test func itKeepsTheContractOfSources() throws {
    var model: ModelBlueZ? = try ModelBlueZ(on: bus)
    let same = try SourceContract.check(scanner(), for: .ranging, time: \.time)
    #expect(same.before.condition == .scanning && same.after.condition == .scanning)
    let began = try SourceContract.check(scanner(), for: .ranging, time: \.time) {
      model?.end()
      model = nil
    }
    #expect(!began.before.isReceptionLost && began.after.isReceptionLost)
    let ended = try SourceContract.check(scanner(), for: .ranging, time: \.time) {
      model = try ModelBlueZ(on: bus)
    }
    #expect(ended.before.isReceptionLost && !ended.after.isReceptionLost)
    model?.end()
  }

  /// What a scanner received.
  struct Received {
    var sightings: [Sighting] = []
    /// How often something else received than before.
    var changes = 0
    var health: [ScannerHealth] = []

    /// The states, without the times that a busy machine kept this process from running for.
    var conditions: [ScannerHealth.Condition] {
      health.map(\.condition).filter { $0 != .lossy }.reduce(into: []) { conditions, next in
        if conditions.last != next { conditions.append(next) }
      }
    }
    var isLost: Bool { health.last?.isReceptionLost ?? true }
    /// The moment that was reached.
    var reached: MonotonicTime?
    /// Whether lost reception was reported of a time that had been reached already: a beacon may have left in it.
    var isLossLate = false
  }

  /// Receives until a condition holds.
  func receive(
    _ scanner: BlueZScanner, for demand: ScanDemand = .ranging, into received: inout Received,
    until isDone: (Received) -> Bool
  ) throws {
    var calls = 0
    while !isDone(received), calls < 1200 {
      calls += 1
      var sightings: [Sighting] = []
      let progress = scanner.receive(for: demand, until: nil, into: &sightings)
      received.sightings += sightings
      received.health += progress.health
      received.changes += progress.hasOtherReceiver ? 1 : 0
      let losses = progress.health.filter(\.isReceptionLost)
      if let reached = received.reached, losses.contains(where: { $0.time < reached }) {
        received.isLossLate = true
      }
      received.reached = progress.reached
    }
    #expect(isDone(received), "after \(calls) calls: \(received.conditions)")
  }

  /// Receives until the signals of devices count, and then forgets what was received.
  func begin(_ scanner: BlueZScanner, with bluez: ModelBlueZ, _ received: inout Received) throws {
    let other = "/org/bluez/hci0/dev_C0_00_00_00_00_FF"
    try receive(scanner, into: &received) { received in
      if bluez.isDiscovering {
        bluez.change(other, "org.bluez.Device1", Self.values(rssi: -1, minor: 999))
      }
      return received.sightings.contains { $0.rssi == -1 }
    }
    // Those that are still on their way.
    bluez.change(other, "org.bluez.Device1", Self.values(rssi: -1, minor: 1000))
    try receive(scanner, into: &received) { $0.sightings.contains { $0.beacon.minor == 1000 } }
    received.sightings = []
  }

  @Test func `it keeps the contract of scanners`() throws {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    bluez.add(Self.device, Self.values(rssi: -60))
    try ScannerContract.check(calls: 20) {
      bluez.report(Self.device)
      return scanner()
    }
  }

  @Test func `while beacons are ranged each signal is a sighting, changed or not`() throws {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try begin(scanner, with: bluez, &received)
    #expect(received.conditions == [.scanning])
    // The monitor comes before the discovery.
    #expect(
      bluez.calls.filter {
        ["RegisterMonitor", "SetDiscoveryFilter", "StartDiscovery"].contains($0)
      }
        == ["RegisterMonitor", "SetDiscoveryFilter", "StartDiscovery"])
    bluez.add(Self.device, Self.values(rssi: -60))
    for _ in 0..<3 {
      bluez.change(Self.device, "org.bluez.Device1", Self.values(rssi: -61))
      // The call of the monitor reports the same advert.
      bluez.report(Self.device)
    }
    // Another kind of advert of the same device.
    bluez.change(Self.device, "org.bluez.Device1", ["RSSI": .int16(-90)])
    bluez.change(Self.device, "org.bluez.Device1", Self.values(rssi: 127, minor: 3))
    try receive(scanner, into: &received) { $0.sightings.last?.beacon.minor == 3 }
    #expect(received.sightings.map(\.rssi) == [-60, -61, -61, -61, nil])
    let first = try #require(received.sightings.first)
    #expect(first.beacon == Self.identity && first.measuredPower == -59 && first.adapter == 0)
    #expect(first.address == BluetoothAddress("C0:00:00:00:00:01"))
    #expect(first.addressType == .random)
  }

  @Test func `while regions are monitored each call of the monitor is a sighting without a signal`()
    throws
  {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, for: .monitoring, into: &received) { !$0.isLost }
    bluez.add(Self.device, Self.values(rssi: -60))
    for _ in 0..<3 { bluez.report(Self.device) }
    bluez.report("/org/bluez/hci0/dev_unknown")
    try receive(scanner, for: .monitoring, into: &received) { $0.sightings.count >= 3 }
    #expect(received.sightings.map(\.rssi) == [nil, nil, nil])
    #expect(!bluez.calls.contains("StartDiscovery"))
    // A demand for signal strengths starts a discovery, and a lower one ends it.
    try receive(scanner, for: .monitoringSignals, into: &received) { _ in bluez.isDiscovering }
    try receive(scanner, for: .monitoring, into: &received) { _ in !bluez.isDiscovering }
    scanner.rest()
    eventually { bluez.isClean }
    #expect(bluez.isClean)
  }

  @Test func `without monitors a changed signal strength is a sighting`() throws {
    let bluez = try ModelBlueZ(on: bus, .init(hasMonitors: false))
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, for: .monitoring, into: &received) { _ in bluez.isDiscovering }
    bluez.add(Self.device, Self.values(rssi: -60))
    bluez.change(Self.device, "org.bluez.Device1", ["RSSI": .int16(-70)])
    bluez.change(Self.device, "org.bluez.Device1", ["TxPower": .int16(1)])
    bluez.change(Self.device, "org.bluez.Device1", ["RSSI": .int16(-71)])
    try receive(scanner, for: .monitoring, into: &received) { $0.sightings.last?.rssi == -71 }
    #expect(received.sightings.map(\.rssi) == [-60, -70, -71])
    #expect(received.conditions == [.shared])
    #expect(received.health[0].sentence.contains("--experimental"))
  }

  @Test func `an end of bluetoothd is lost reception, and its return restores it`() throws {
    var bluez = try ModelBlueZ(on: bus)
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { !$0.isLost }
    bluez.end()
    try receive(scanner, into: &received) { $0.isLost }
    #expect(received.health.last?.sentence.hasPrefix("bluetoothd does not run; start it") == true)
    #expect(scanner.availability != .available)
    bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    try receive(scanner, into: &received) { !$0.isLost }
    #expect(received.conditions == [.scanning, .systemError, .scanning])
    try receive(scanner, into: &received) { _ in bluez.isDiscovering }
  }

  @Test func `a bluetoothd without monitors after one with them reports at another rate`() throws {
    var bluez = try ModelBlueZ(on: bus)
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { !$0.isLost }
    bluez.end()
    try receive(scanner, into: &received) { $0.isLost }
    bluez = try ModelBlueZ(on: bus, .init(hasMonitors: false))
    defer { bluez.end() }
    #expect(received.changes == 0)
    try receive(scanner, into: &received) { !$0.isLost }
    #expect(received.conditions == [.scanning, .systemError, .shared])
    #expect(received.changes == 1)
  }

  @Test func `an end of the bus is lost reception, and its return restores it`() throws {
    var bluez = try ModelBlueZ(on: bus)
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { !$0.isLost }
    bus.kill()
    bluez.end()
    try receive(scanner, into: &received) { $0.isLost }
    let bus = try BusDaemon(in: scratch)
    bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    try receive(scanner, into: &received) { !$0.isLost }
  }

  /// The latest message is newer than the call that is never answered.
  @Test func `a bluetoothd that stands still after a signal is lost reception`() throws {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try begin(scanner, with: bluez, &received)
    bluez.setIgnoresCalls(true)
    let calls = bluez.calls.count
    try receive(scanner, into: &received) { _ in bluez.calls.count > calls }
    bluez.change(Self.device, "org.bluez.Device1", Self.values(rssi: -2, minor: 7))
    try receive(scanner, into: &received) { $0.sightings.contains { $0.rssi == -2 } }
    try receive(scanner, into: &received) { $0.conditions.last == .notAnswering }
    bluez.setIgnoresCalls(false)
  }

  @Test(arguments: [nil, "StartDiscovery"])
  func `a bluetoothd that does not answer is lost reception`(call: String?) throws {
    let bluez = try ModelBlueZ(on: bus, .init(stallsAt: call))
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { !$0.isLost && (call != nil || bluez.isDiscovering) }
    if call == nil { bluez.setMute(true) }
    try receive(scanner, into: &received) { $0.conditions.last == .notAnswering }
    #expect(!received.isLossLate)
    bluez.setMute(false)
    try receive(scanner, into: &received) { !$0.isLost }
  }

  /// The machine stands still between the report that bluetoothd does not answer and its answer.
  @Test func `a pause of this process does not hide that bluetoothd answers again`() throws {
    let bluez = try ModelBlueZ(on: bus, .init(stallsAt: "StartDiscovery"))
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { $0.conditions.last == .notAnswering }
    usleep(3_500_000)
    for _ in 0..<2 {
      var sightings: [Sighting] = []
      _ = scanner.receive(for: .ranging, until: nil, into: &sightings)
    }
    bluez.setMute(false)
    try receive(scanner, into: &received) { !$0.isLost }
  }

  /// More bytes than a connection reads, and more values than it keeps.
  @Test(arguments: [(100_000, BusLimits().decodedBytes), (BusLimits().messageBytes, 200_000)])
  func `a list of devices that is too long is lost reception`(bytes: Int, decoded: Int) throws {
    var limits = BusLimits()
    (limits.messageBytes, limits.decodedBytes) = (bytes, decoded)
    let ballast = BusValue.bytes([UInt8](repeating: 0, count: 300_000))
    let bluez = try ModelBlueZ(on: bus, .init(ballast: ballast))
    defer { bluez.end() }
    let address = BusAddress.address(bus.address)
    #expect(BlueZView.current(address, limits: limits, within: .max / 4).obstacle == .tooLong)
    let scanner = BlueZScanner(bus: address, limits: limits)
    var received = Received()
    try receive(scanner, into: &received) { $0.conditions.last == .systemError }
    #expect(received.health.last?.sentence.hasPrefix("bluetoothd lists more devices") == true)
    bluez.setBallast(nil)
    try receive(scanner, into: &received) { !$0.isLost }
  }

  @Test func `the adapter's power and its absence are states`() throws {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { _ in bluez.isDiscovering }
    bluez.setPower(false)
    try receive(scanner, into: &received) { $0.isLost }
    #expect(scanner.availability != .available)
    bluez.setPower(true)
    try receive(scanner, into: &received) { !$0.isLost && bluez.isDiscovering }
    bluez.setPlugged(false)
    try receive(scanner, into: &received) { $0.isLost }
    bluez.setPlugged(true)
    try receive(scanner, into: &received) { !$0.isLost && bluez.isDiscovering }
    #expect(
      received.conditions == [.scanning, .down, .scanning, .removed, .scanning])
    #expect(received.health.allSatisfy { $0.adapter == "hci0" })
  }

  @Test func `a discovery that the kernel is too busy for is asked for again`() throws {
    let bluez = try ModelBlueZ(on: bus, .init(busyAnswers: 2))
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { _ in bluez.isDiscovering }
    #expect(bluez.calls.count { $0 == "StartDiscovery" } == 3)
    // The monitor has received meanwhile.
    #expect(received.conditions == [.scanning])
  }

  @Test func `a discovery that is not answered while other calls are is asked for again`() throws {
    let bluez = try ModelBlueZ(on: bus, .init(hasMonitors: false, losesAnswer: true))
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try receive(scanner, into: &received) { !$0.isLost }
    #expect(received.conditions.last == .shared)
    let refusal = received.health.first { $0.condition == .refused }
    #expect(refusal?.sentence.contains("StartDiscovery is not answered") == true)
  }

  @Test func `values of other types than bluetoothd's are passed over`() throws {
    let bluez = try ModelBlueZ(on: bus)
    defer { bluez.end() }
    let scanner = scanner()
    var received = Received()
    try begin(scanner, with: bluez, &received)
    let odd: [[String: BusValue]] = [
      ["ManufacturerData": .string("x")], ["ManufacturerData": .bytes([1, 2])],
      ["ManufacturerData": .properties(["a": .bytes([2, 21])])],
      Self.values(data: []), Self.values(data: Array(repeating: 2, count: 300)),
      Self.values(data: [2, 21]), Self.values(rssi: -4000),
      Self.values().merging(["RSSI": .string("loud")]) { $1 },
    ]
    bluez.add(Self.device, Self.values(rssi: -60))
    for values in odd { bluez.change(Self.device, "org.bluez.Device1", values) }
    bluez.change(ModelBlueZ.adapter, "org.bluez.Adapter1", ["Address": .uint32(5)])
    bluez.change(Self.device, "org.bluez.Device1", Self.values(rssi: -61, minor: 9))
    try receive(scanner, into: &received) { $0.sightings.last?.beacon.minor == 9 }
    #expect(received.sightings.map(\.rssi) == [-60, nil, nil, -61])
    #expect(scanner.counts[.malformedIBeacon] == 1)
  }

  @Test func `what keeps it from bluetoothd is said in a sentence`() throws {
    #expect(scanner().availability == .unavailable(BlueZView.Obstacle.notRunning.sentence))
    let bluez = try ModelBlueZ(on: bus, .init(isPowered: false))
    defer { bluez.end() }
    guard case .unavailable(let sentence) = scanner().availability else {
      Issue.record("an adapter that is off was taken for one that can be used")
      return
    }
    #expect(sentence.hasPrefix("hci0 is switched off"))
    let missing = BusAddress.address("unix:path=\(scratch["nothing"])")
    guard case .noBus = BlueZView.current(missing).obstacle else {
      Issue.record("a bus that is not there was found")
      return
    }
    #expect(BlueZScanner(bus: missing).availability != .available)
  }

  @Test func `a policy that refuses is no permission`() throws {
    let folder = try Scratch()
    let strict = try BusDaemon(
      in: folder, rules: #"<deny send_interface="org.freedesktop.DBus.ObjectManager"/>"#)
    let bluez = try ModelBlueZ(on: strict)
    defer { bluez.end() }
    let scanner = BlueZScanner(bus: .address(strict.address))
    guard case .notPermitted = scanner.availability else {
      Issue.record("\(scanner.availability)")
      return
    }
    var received = Received()
    try receive(scanner, into: &received) { $0.conditions.last == .notPermitted }
  }
}
