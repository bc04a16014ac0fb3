import Advertising
import BeaconTesting
import CaptureFiles
import Dispatch
import Foundation
import Ranging
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

/// The beacon service, by the public interface of `ServiceCore` alone.
@Suite struct BeaconServiceTests {
  /// An app repeats its regions to a daemon that has started again.
  @Test func aRegionThatIsRepeatedHasTheStoredState() throws {
    let scratch = try Scratch()
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 0.3))
    let regions = [
      BeaconRegion(identifier: "door", constraint: Site.all),
      BeaconRegion(identifier: "hall", constraint: Site.one(1), rules: rules),
    ]
    func site() throws -> Site {
      try Site(ScriptedScanner(isRecorded: false), persistence: .file(scratch["state.sqlite"]))
    }
    do {
      let site = try site()
      let client = site.beacons.addClient()
      for region in regions { try client.register(region, assuming: .inside) }
      #expect(site.manager.close() == nil)
    }
    let later = try site()
    let client = later.beacons.addClient()
    for region in regions {
      _ = try later.beacons.perform(.keep(region), for: client.client)
      #expect(client.snapshot(ofRegion: region.identifier)?.status.state == .inside)
    }
    #expect(client.regions == regions)
  }

  // MARK: Sightings and ranging

  @Test func everySightingIsDeliveredInOrder() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 0.1, from: 0, to: 1.95)
    let site = try Site(scanner)
    let (reader, other) = (site.reader(), site.reader())
    try reader.client.startSightings()
    scanner.finish(at: 3)
    scanner.clock.advance(by: 3)
    #expect(await eventually { reader.hasEnded && other.hasEnded })
    #expect(reader.sightings.count == 20)
    #expect(reader.sightings.allSatisfy { $0.beacon.minor == 7 && $0.rssi == -60 })
    #expect(reader.sightings.map(\.time) == reader.sightings.map(\.time).sorted())
    #expect(other.sightings.isEmpty)
  }

  @Test func aClientRangesAllBeaconsAndAnotherSome() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(1), rssi: -75, every: 0.1, from: 0, to: 5)
    scanner.add(Site.frame(2), rssi: -50, every: 0.1, from: 0, to: 5)
    let site = try Site(scanner)
    let (all, one) = (site.reader(), site.reader())
    try all.client.startRanging(RangingRequest(nil))
    try one.client.startRanging(RangingRequest(Site.one(1)))
    scanner.clock.advance(by: 1)
    #expect(await eventually { all.reports.count == 1 && one.reports.count == 1 })
    // The closest is first.
    #expect(all.reports.first?.beacons.map(\.beacon.minor) == [2, 1])
    #expect(one.reports.first?.beacons.map(\.beacon.minor) == [1])
    #expect(one.reports.first?.beacons.first?.rssi == -75)
    #expect(one.reports.first?.time == scanner.clock.now)
  }

  /// The adapters are named by their addresses, which the receiver's states bring.
  @Test func rangedBeaconsHaveSides() async throws {
    let scanner = ScriptedScanner()
    func name(_ number: UInt64) -> AdapterName {
      .address(BluetoothAddress(rawValue: 0x00AA_0100_0000 + number))
    }
    for (adapter, rssi) in [(0, -75), (1, -60)] as [(UInt16, Int8)] {
      scanner.report(.scanning, at: 0, adapter: adapter)
      scanner.add(Site.frame(1), rssi: rssi, every: 0.1, from: 0.1, to: 5, adapter: adapter)
    }
    let site = try Site(scanner, sides: Sides(left: name(0), right: name(1)))
    let reader = site.reader()
    try reader.client.startRanging(RangingRequest(nil))
    scanner.clock.advance(by: 5)
    #expect(await eventually { reader.reports.count == 5 })
    #expect(reader.reports.last?.beacons.map(\.side) == [.right])
  }

  @Test func twoRequestsForOneUUIDAreStoppedApart() async throws {
    let scanner = ScriptedScanner()
    let site = try Site(scanner)
    let reader = site.reader()
    let requests = ["a", "b"].map { RangingRequest(Site.all, identifier: $0) }
    for request in requests { try reader.client.startRanging(request) }
    #expect(reader.client.rangingRequests == Set(requests))
    scanner.clock.advance(by: 1)
    #expect(await eventually { reader.reports.count == 1 })
    reader.client.stopRanging(requests[0])
    #expect(reader.client.rangingRequests == [requests[1]])
    scanner.clock.advance(by: 1)
    #expect(await eventually { reader.reports.count == 2 })
    reader.client.stopRanging(requests[1])
    #expect(reader.client.rangingRequests.isEmpty)
    #expect(await eventually { scanner.demands == [.ranging, .none] })
  }

  /// Another thread may hold the handle of a client that was removed: no radio runs for it.
  @Test func aRemovedClientNeedsNothing() throws {
    let site = try Site(ScriptedScanner(isRecorded: false))
    let client = site.beacons.addClient()
    client.remove()
    try client.startRanging(RangingRequest(nil))
    try client.startSightings()
    try client.register(Site.region("lobby"))
    #expect(client.rangingRequests.isEmpty && client.regions.isEmpty)
    #expect(!site.beacons.isWanted)
    for _ in 0..<200 {
      let client = site.beacons.addClient()
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { client.remove() } else { try? client.startRanging(RangingRequest(nil)) }
      }
      #expect(client.rangingRequests.isEmpty && !site.beacons.isWanted)
    }
  }

  @Test(arguments: [true, false])
  func requestsStartAndStopWhileAClientIterates(isRecorded: Bool) async throws {
    let scanner = ScriptedScanner(isRecorded: isRecorded)
    let site = try Site(scanner)
    let client = site.beacons.addClient()
    try client.startRanging(RangingRequest(nil))
    let (clock, frame) = (scanner.clock, Site.frame(7))
    scanner.add(frame, rssi: -60, every: 0.1, from: 0.05, to: 10)
    let ticks = Task {
      while !Task.isCancelled {
        clock.advance(by: 0.5)
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    defer { ticks.cancel() }
    var (reports, sightings) = (0, 0)
    for try await event in client.events {
      switch event {
      case .ranging:
        reports += 1
        if reports == 2 {
          client.stopRanging(RangingRequest(nil))
          try client.startSightings()
        }
      case .sightings(let batch):
        #expect(reports >= 2)
        sightings += batch.count
        client.stopSightings()
        // Its sequence ends with the client.
        client.remove()
      default: break
      }
    }
    #expect(reports >= 2 && sightings > 0)
    #expect(await eventually { scanner.demands.last == ScanDemand.none })
  }

  // MARK: Regions

  @Test func crossingsHaveReasonAndIdentity() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    let site = try Site(scanner)
    let kitchen = site.reader(in: ClientGroup("kitchen"))
    try kitchen.client.register(Site.region("lobby"))
    let start = scanner.clock.now
    scanner.clock.advance(by: 60)
    try #require(await eventually { kitchen.regions.count == 3 })
    let events = kitchen.regions
    #expect(kitchen.registered == 1)
    #expect(events.map(\.transition.change) == [.determined(.outside), .enter, .exit])
    #expect(
      events.allSatisfy { $0.region == Site.region("lobby") && $0.transition.region == "lobby" })
    #expect(events.map(\.transition.reason.rule) == [.start, .sighting, .exitTimeout])
    #expect(events[1].transition.time.seconds(since: start) == 10)
    #expect(events[1].transition.reason.lastSighting?.beacon == Site.frame(7).identity)
    #expect(events[1].transition.reason.lastSighting?.rssi == -60)
    #expect(events[2].transition.time.seconds(since: start) == 25)
    #expect(events[2].transition.reason.exitTimeout == 5)
    #expect(events[2].transition.previous == .inside)
    let snapshot = kitchen.client.snapshot(ofRegion: "lobby")
    #expect(snapshot?.status.state == .outside)
    #expect(snapshot?.since == events[2].wallClockTime)
  }

  @Test func anIdentifierThatCannotBeStoredIsRefused() throws {
    let site = try Site(ScriptedScanner())
    let client = site.beacons.addClient()
    let longest = String(repeating: "\0", count: 4096)
    try client.register(Site.region(longest))
    #expect(throws: BeaconServiceError.identifierTooLong(bytes: 4097)) {
      try client.register(Site.region(longest + "x"))
    }
    #expect(client.regions.map(\.identifier) == [longest])
  }

  @Test func aClientOfAnotherGroupGetsNoneOfTheEvents() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 1, from: 0, to: 5)
    let site = try Site(scanner)
    let (first, second, third) = (
      site.reader(), site.reader(in: ClientGroup("shop")), site.reader()
    )
    try first.client.register(Site.region("door"))
    try second.client.register(Site.region("door", Site.one(9)))
    scanner.clock.advance(by: 10)
    #expect(await eventually { !second.regions.isEmpty && third.regions.count == 2 })
    // Clients of one group share its regions, another group has one of its own by the same identifier.
    #expect(first.regions == third.regions)
    #expect(first.regions.map(\.transition.change) == [.determined(.inside), .exit])
    #expect(second.regions.map(\.transition.change) == [.determined(.outside)])
    #expect(second.regions.first?.region.constraint == Site.one(9))
    second.client.unregister("door")
    #expect(second.client.regions.isEmpty)
    #expect(third.client.regions == [Site.region("door")])
  }

  @Test func everyStateRequestIsAnswered() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 1, from: 1, to: 20)
    let site = try Site(scanner)
    let (reader, other) = (site.reader(), site.reader())
    try reader.client.register(Site.region("known"))
    reader.client.requestState(of: Site.region("present", Site.one(7)))
    reader.client.requestState(of: Site.region("absent", Site.one(9)))
    scanner.clock.advance(by: 10)
    #expect(await eventually { reader.states.count == 2 && !reader.regions.isEmpty })
    #expect(reader.states == ["present": .inside, "absent": .outside])
    #expect(reader.client.regions.map(\.identifier) == ["known"])
    reader.client.requestState(of: Site.region("known"))
    #expect(await eventually { reader.states["known"] == .inside })
    // What cannot be found out any more is unknown: half a second from here is too short.
    #expect(await eventually { site.beacons.received?.to == scanner.clock.now })
    reader.client.requestState(of: Site.region("late", Site.one(8)))
    scanner.finish(at: 10.5)
    scanner.clock.advance(by: 1)
    #expect(await eventually { reader.states["late"] == .unknown })
    #expect(other.states.isEmpty)
  }

  // MARK: The receiver

  @Test func aLostReceptionIsReportedAndNoExit() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 1, from: 0, to: 5.5)
    scanner.report(.removed, "hci0 is unplugged", at: 6)
    scanner.report(.scanning, "hci0 receives", at: 60)
    let site = try Site(scanner)
    let reader = site.reader()
    try reader.client.register(Site.region("lobby"))
    scanner.clock.advance(by: 50)
    #expect(await eventually { reader.health.count == 1 && scanner.delivered == scanner.clock.now })
    #expect(reader.health.first?.sentence == "hci0 is unplugged")
    #expect(site.beacons.fault?.condition == .removed)
    #expect(reader.regions.map(\.transition.change) == [.determined(.inside)])
    #expect(reader.client.snapshot(ofRegion: "lobby")?.status.exit == nil)
    scanner.clock.advance(by: 30)
    #expect(await eventually { reader.regions.count == 2 })
    #expect(reader.regions.last?.transition.change == .exit)
    #expect(reader.health.map(\.condition) == [.removed, .scanning])
    #expect(site.beacons.fault == nil)
    #expect(site.beacons.receiverStates.map(\.condition) == [.scanning])
    // A client that comes later is given the latest state when it requests that.
    let late = site.reader()
    late.client.reportReceiverStates()
    #expect(await eventually { late.health.map(\.condition) == [.scanning] })
  }

  static func recording(_ name: String) throws -> ReplayScanner {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "captures/\(name)").path
    return try ReplayScanner(paths: [file])
  }

  /// The recording has two beacons that others imitate, and three whose measured power cannot be. With pins, the
  /// imitators count for nothing.
  @Test(arguments: [false, true])
  func imitatorsAreFoundAndMayBeIgnored(isPinned: Bool) async throws {
    let beacons = (1...2).map { BeaconIdentity(uuid: Site.uuid, major: 6, minor: $0) }
    let true_ = [1, 2].map { BluetoothAddress(rawValue: 0xC0BE_AC00_0000 + $0) }
    let pins = isPinned ? Dictionary(uniqueKeysWithValues: zip(beacons, true_)) : [:]
    let site = try Site(Self.recording("hostile.pcapng"), pins: pins)
    let reader = site.reader()
    try reader.client.startRanging(RangingRequest(nil))
    #expect(await eventually { reader.hasEnded })
    var imitated: [BeaconIdentity: Set<BluetoothAddress>] = [:]
    var powers: [Int8] = []
    for case .identity(let finding, at: _) in reader.events {
      switch finding.problem {
      case .severalSenders(let senders):
        #expect(imitated[finding.beacon] == nil, "reported twice")
        imitated[finding.beacon] = Set(senders.map(\.address))
      case .measuredPower(let power, _): powers.append(power)
      }
    }
    #expect(powers.sorted() == [-127, 0, 4])
    let found: [BeaconIdentity: Set<BluetoothAddress>] = [
      beacons[0]: [true_[0], BluetoothAddress(rawValue: 0xEF69_636B_8F59)],
      beacons[1]: [true_[1], BluetoothAddress(rawValue: 0xF693_F1B8_0E3B)],
    ]
    #expect(imitated == (isPinned ? [:] : found))
    let loudest = reader.reports.flatMap(\.beacons).filter { beacons.contains($0.beacon) }
      .compactMap(\.rssi).max()
    #expect(isPinned ? loudest ?? 0 < -50 : loudest ?? 0 > -50)
  }

  /// A client that monitors the beacons receives each finding once, whether it ranges them as well or not.
  @Test(arguments: [false, true])
  func monitoringFindsImitatorsToo(isRanging: Bool) async throws {
    let site = try Site(Self.recording("hostile.pcapng"))
    let reader = site.reader()
    if isRanging { try reader.client.startRanging(RangingRequest(nil)) }
    try reader.client.register(Site.region("all"))
    #expect(await eventually { reader.hasEnded })
    var imitated: [UInt16] = []
    for case .identity(let finding, at: _) in reader.events {
      if case .severalSenders = finding.problem { imitated.append(finding.beacon.minor) }
    }
    #expect(imitated.sorted() == [1, 2])
  }

  @Test func theEndOfARecordingEndsEverySequence() async throws {
    let scanner = try Self.recording("visitor.btsnoop")
    let site = try Site(scanner)
    let (reader, ranger) = (site.reader(), site.reader())
    // The recording stands still until there is demand.
    try ranger.client.startRanging(RangingRequest(nil))
    try reader.client.startSightings()
    #expect(await eventually { reader.hasEnded && ranger.hasEnded })
    #expect(reader.failure == nil && site.beacons.failure == nil)
    #expect(scanner.counts.sightings > 100)
    let shown = reader.sightings.count
    // The ranger's demand came first, so that the reader may have missed the first batch.
    #expect(shown > 0 && shown <= scanner.counts.sightings)
    #expect(ranger.reports.contains { !$0.beacons.isEmpty })
    guard case .ended(let sentence, isFailure: false) = reader.events.last else {
      Issue.record("the last event is \(String(describing: reader.events.last))")
      return
    }
    #expect(sentence == site.beacons.end)
    #expect(throws: BeaconServiceError.unavailable(sentence)) {
      try reader.client.startSightings()
    }
  }

  /// A recording stands still while there is no demand, also within what was read at once.
  @Test func whatWasReadWaitsForTheNextDemand() async throws {
    let scanner = ScriptedScanner(isRecorded: true)
    scanner.add(Site.frame(7), rssi: -60, every: 0.1, from: 0.05, to: 10)
    scanner.finish(at: 11)
    let site = try Site(scanner)
    let client = site.beacons.addClient()
    let request = RangingRequest(nil)
    try client.startRanging(request)
    scanner.clock.advance(by: 11)
    var reports = 0
    for try await event in client.events {
      guard case .ranging(let report) = event, !report.beacons.isEmpty else { continue }
      reports += 1
      guard reports == 2 else { continue }
      client.stopRanging(request)
      Task {
        #expect(await eventually { scanner.demands.last == ScanDemand.none })
        try client.startRanging(request)
      }
    }
    #expect(reports >= 8)
  }

  @Test(arguments: [true, false])
  func aSourceThatFailsThrowsFromTheSequence(isRecorded: Bool) async throws {
    struct Broken: Error {}
    let scanner = ScriptedScanner(isRecorded: isRecorded)
    let site = try Site(scanner)
    let reader = site.reader()
    try reader.client.startRanging(RangingRequest(Site.all))
    scanner.clock.advance(by: 1.5)
    #expect(await eventually { reader.reports.count == 1 })
    scanner.fail(Broken())
    scanner.clock.advance(by: 1)
    #expect(await eventually { reader.hasEnded })
    #expect(reader.failure is Broken)
    #expect(site.beacons.failure is Broken)
    #expect(site.beacons.end == "script: Broken()")
    #expect(throws: BeaconServiceError.unavailable("script: Broken()")) {
      try reader.client.register(Site.region("lobby"))
    }
  }

  // MARK: Values

  @Test func everyEventCanBeEncoded() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(7), rssi: -60, every: 1, from: 0, to: 5.5)
    scanner.add(Site.frame(8), rssi: nil, every: 1, from: 0, to: 5.5)
    scanner.report(.quiet, "nothing is received", at: 8)
    let administrator = Administrator()
    let site = try Site(scanner, authorization: administrator)
    let reader = site.reader()
    try reader.client.startSightings()
    try reader.client.startRanging(RangingRequest(nil))
    try reader.client.register(Site.region("lobby"))
    scanner.clock.advance(by: 20)
    #expect(await eventually { reader.regions.last?.transition.change == .exit })
    reader.client.requestState(of: Site.region("lobby"))
    #expect(await eventually { reader.states["lobby"] == .outside })
    administrator.current.withLock { $0 = .denied }
    site.manager.checkAuthorization()
    #expect(await eventually { reader.events.contains(.refused(.denied)) })
    #expect(throws: BeaconServiceError.denied) {
      try reader.client.startSightings()
    }
    administrator.current.withLock { $0 = .granted(.authorizedAlways) }
    site.manager.checkAuthorization()
    scanner.finish(at: 21)
    scanner.clock.advance(by: 1)
    #expect(await eventually { reader.hasEnded })
    let cases = Set(reader.events.map { "\($0)".prefix { $0.isLetter } })
    #expect(
      cases == [
        "sightings", "ranging", "region", "regionState", "registered", "health", "refused", "ended",
      ])
    for event in reader.events {
      let data = try JSONEncoder().encode(event)
      #expect(try JSONDecoder().decode(BeaconEvent.self, from: data) == event)
    }
    let request = RangingRequest(Site.one(7), identifier: "a")
    #expect(
      try JSONDecoder().decode(RangingRequest.self, from: JSONEncoder().encode(request)) == request)
  }
}
