import BeaconTesting
import Positioning
import Records
import Regions
import Scanning
import ServiceCore
import TestSupport
import Testing

@testable import KioskService

/// Regions that are changed while things happen to them.
@Suite(.timeLimit(.minutes(5))) struct RegionControlTests {
  private func request(_ minor: UInt16, _ rules: [String] = []) -> RegionRequest {
    RegionRequest(.beacons(KioskScene.constraint(minor)), rules: rules)
  }

  /// Four tasks add, replace and remove regions, while beacons come and go.
  @Test func parallelChangesLeaveWhatTheCoreHas() async throws {
    let scene = try KioskScene(regions: [
      BeaconRegion(identifier: "fixed", constraint: KioskScene.constraint(1))
    ])
    var random = SplitMix64(seed: 20_261_124)
    for second in 0..<60 {
      for minor in UInt16(1)...8 where random.next() % 2 == 0 {
        scene.scanner.add(
          KioskScene.frame(minor), rssi: -60, every: 0.1, from: Double(second),
          to: Double(second) + 0.4)
      }
    }
    let seeds = (0..<4).map { _ in random.next() }
    await withTaskGroup(of: Void.self) { group in
      for seed in seeds {
        group.addTask {
          var random = SplitMix64(seed: seed)
          for _ in 0..<500 {
            let name = "r\(random.next() % 12)"
            let minor = UInt16(random.next() % 8) + 1
            // A region that is not there cannot be removed.
            if random.next() % 3 == 0 {
              try? await scene.control.remove(name)
            } else {
              _ = try? await scene.control.set(name, request(minor))
            }
            await Task.yield()
          }
        }
      }
      group.addTask {
        for _ in 0..<600 {
          scene.advance(by: 0.1)
          await Task.yield()
        }
      }
    }
    scene.checkStates()
    #expect(scene.hub.tally.transitions["fixed"].map { $0.enters > 5 } == true)
  }

  @Test func whatWasSetIsThereAtOnce() async throws {
    let scene = try KioskScene()
    for number in 0..<200 {
      #expect(try await scene.control.set("r\(number)", request(UInt16(number))))
      #expect(scene.hub.region("r\(number)")?.isRemovable == true)
      #expect(try await !scene.control.set("r\(number)", request(UInt16(number + 1))))
      #expect(scene.hub.region("r\(number)")?.constraint?.minor == UInt16(number + 1))
    }
    for number in 0..<200 {
      try await scene.control.remove("r\(number)")
      #expect(scene.hub.region("r\(number)") == nil)
      await #expect(throws: RegionRefusal.unknown) { try await scene.control.remove("r\(number)") }
    }
    scene.checkStates()
  }

  /// A region that was not entered has the rule that failed.
  @Test func whyARegionWasNotEntered() throws {
    let scene = try KioskScene(regions: [
      BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1)),
      BeaconRegion(
        identifier: "near", constraint: KioskScene.constraint(1),
        rules: RegionRules(signal: SignalGate(enter: -50))),
    ])
    scene.scanner.add(KioskScene.frame(1), rssi: -60, every: 0.1, from: 0, to: 100)
    scene.advance(by: 2)
    #expect(scene.control.approach(to: "door") == nil)
    #expect(scene.control.approach(to: "no such region") == nil)
    let approach = try #require(scene.control.approach(to: "near"))
    #expect(approach.message == "strongest -60 dBm; above -50 dBm is needed")
    let json = try #require(scene.hub.regionJSON("near", approach))
    let text = String(decoding: json, as: UTF8.self)
    #expect(text.contains(#""approach":{"rule":"signal","uuid":"#))
    // The list does not have it.
    #expect(!String(decoding: scene.hub.regionsJSON, as: UTF8.self).contains("approach"))
  }

  @Test func aReloadKeepsTheStatesOfRegionsThatStay() async throws {
    let region = BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1))
    let scene = try KioskScene(regions: [region])
    _ = try await scene.control.set("door2", request(1))
    scene.scanner.add(KioskScene.frame(1), rssi: -60, every: 0.1, from: 0, to: 100)
    scene.advance(by: 2)
    #expect(scene.hub.region("door")?.state == .inside)
    let events = scene.hub.journal.latest
    // The same region, one that takes the place of one that was added, and a new one.
    var new = try scene.configuration([region, "door2", "other"])
    new.names = [:]
    _ = try scene.control.configure(new)
    scene.manager.journal.finish()
    #expect(scene.hub.region("door")?.state == .inside)
    #expect(scene.hub.region("door2")?.isRemovable == false)
    #expect(scene.hub.regions.map(\.name) == ["door", "door2", "other"])
    let batch = scene.hub.journal.read(after: events)
    #expect(batch.entries.allSatisfy { $0.region != "door" })
    scene.advance(by: 2)
    scene.checkStates()
    #expect(try scene.control.configure(try scene.configuration([region])) == ["door2", "other"])
    scene.checkStates()
  }

  /// A state that no event has shown reaches the broker with the list of the regions.
  @Test func anAssumedStateIsAChange() {
    let region = BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1))
    var state = KioskState()
    func register(_ registered: RegionState) -> Bool {
      state.receive(
        .registered(
          BeaconService.name, .application, "door", region,
          state: BeaconRegistrationState(state: registered)))
    }
    #expect(register(.unknown))
    #expect(!register(.unknown))
    #expect(register(.outside))
  }

  /// A service that began without locations cannot follow circles.
  @Test func aReloadWithACircleNeedsLocations() throws {
    let region = BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1))
    let scene = try KioskScene(regions: [region])
    var new = try scene.configuration(["other"])
    let center = try #require(Coordinate(latitude: 52.5163, longitude: 13.3777))
    new.circles = [try CircularRegion(identifier: "stop", center: center, radius: 200)]
    let refusal = #expect(throws: RegionRefusal.self) { _ = try scene.control.configure(new) }
    #expect(refusal?.sentence.contains("circles need locations") == true)
    scene.manager.journal.finish()
    #expect(scene.hub.regions.map(\.name) == ["door"])
    scene.checkStates()
  }

  /// A region in the middle of a configuration cannot be registered: those before it stay as they are, too.
  @Test func aReloadThatIsRefusedChangesNothing() async throws {
    let scene = try KioskScene(regions: [
      BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1))
    ])
    _ = try await scene.control.set("added", request(2))
    scene.manager.journal.finish()
    let latest = scene.hub.journal.latest
    let long = String(repeating: "x", count: 5000)
    let new = try scene.configuration(["other", "added", long])
    #expect(throws: RegionRefusal.self) { try scene.control.configure(new) }
    scene.manager.journal.finish()
    #expect(scene.hub.regions.map(\.name) == ["added", "door"])
    #expect(scene.hub.region("added")?.isRemovable == true)
    #expect(scene.hub.journal.latest == latest)
    scene.checkStates()
  }

  /// Every state that a restart begins with is that of the process before.
  @Test func regionsAndStatesOutliveTheProcess() async throws {
    let scratch = try Scratch()
    do {
      let scene = try KioskScene(file: scratch["s"])
      _ = try await scene.control.set("near", request(1))
      _ = try await scene.control.set("far", request(2))
      scene.scanner.add(KioskScene.frame(1), rssi: -60, every: 0.1, from: 0, to: 10)
      scene.advance(by: 2)
      #expect(scene.hub.region("near")?.state == .inside)
      await scene.manager.stop()
      #expect(scene.manager.close() == nil)
    }
    let scene = try KioskScene(file: scratch["s"])
    #expect(scene.hub.regions.map(\.name) == ["far", "near"])
    #expect(scene.hub.region("near")?.state == .inside)
    #expect(scene.hub.region("near")?.isRemovable == true)
    // The broker is given them although none has changed.
    scene.checkStates()
    await scene.manager.stop()
  }
}

extension KioskScene {
  /// A configuration of regions: each is given, or named, and then has a beacon of its own.
  func configuration(_ regions: [any RegionDescription]) throws -> RegionConfiguration {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 0.5))
    return RegionConfiguration(
      regions: regions.enumerated().map { $1.region(UInt16($0) + 100) }, rules: rules, names: [:]
    ) { _ in rules }
  }
}

protocol RegionDescription {
  func region(_ minor: UInt16) -> BeaconRegion
}

extension BeaconRegion: RegionDescription {
  func region(_ minor: UInt16) -> BeaconRegion { self }
}

extension String: RegionDescription {
  func region(_ minor: UInt16) -> BeaconRegion {
    BeaconRegion(identifier: self, constraint: KioskScene.constraint(minor))
  }
}
