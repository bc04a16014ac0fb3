import BeaconTesting
import CoreLocation
import DBusMessages
import LocationSources
import Positioning
import TestDaemons
import TestSupport
import Testing

/// A real GeoClue that refuses the application, as its delegate knows it.
@Suite(.blocking, .daemons) struct GeoClueDenialTests {
  let scratch: Scratch
  let bus: BusDaemon
  let receiver: NMEAServer

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
    receiver = try NMEAServer(at: scratch["nmea"])
  }

  /// The calls that are not of beacons.
  private func calls(_ scene: Scene) -> [String] {
    scene.listener.all.filter { !$0.hasPrefix("range") }
  }

  @Test func aRefusalIsADenialForTheDelegateAndAPermissionEndsIt() async throws {
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address, level: 0)
    let source = GeoClueSource(desktopIdentifier: "kiosk", bus: .address(bus.address))
    let scene = Scene { $0.locationSource = .init(source) }
    _ = await scene.told(1)
    #expect(scene.manager.authorizationStatus == .authorizedAlways)
    scene.manager.startRangingBeacons(satisfying: RangingServiceTests.all)
    scene.manager.startUpdatingLocation()
    await eventually { calls(scene).count >= 3 }
    #expect(calls(scene) == ["status 3", "status 2", "failed 1"])
    #expect(scene.manager.authorizationStatus == .denied)
    #expect(scene.manager.location == nil)
    // GeoClue does not decide on beacons: they are ranged until the app stops that.
    scene.scanner.clock.advance(by: 1.5)
    await eventually { scene.listener.all.contains("range ") }
    #expect(scene.listener.all.contains("range "))
    scene.manager.requestLocation()
    await eventually { calls(scene).count >= 4 }
    #expect(calls(scene).last == "failed 1")

    agent.setLevel(8)
    await eventually { scene.manager.location != nil }
    #expect(calls(scene)[4] == "status 3")
    #expect(scene.manager.authorizationStatus == .authorizedAlways)
    agent.setLevel(0)
    await eventually { calls(scene).suffix(2) == ["status 2", "failed 1"] }
    #expect(calls(scene).suffix(2) == ["status 2", "failed 1"])
    withExtendedLifetime(geoclue) {}
  }

  /// As after the start of a process, the application does not know of an earlier refusal, and asks anew.
  @Test func aDenialOfCirclesNamesThem() async throws {
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address, level: 0)
    let source = GeoClueSource(desktopIdentifier: "kiosk", bus: .address(bus.address))
    let scene = Scene { $0.locationSource = .init(source) }
    _ = await scene.told(1)
    scene.manager.startMonitoring(
      for: CLCircularRegion(
        center: CLLocationCoordinate2D(latitude: 37.4, longitude: -122), radius: 200,
        identifier: "shop"))
    #expect(
      await scene.told(4) == ["status 3", "monitors shop", "status 2", "cannot monitor shop 4"])
    withExtendedLifetime((geoclue, agent)) {}
  }
}
