import BeaconTesting
import CoreLocation
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@Suite struct AuthorizationTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  @Test func startedBeforeItIsDecidedDeliversAfterIt() async {
    let scene = Scene(authorization: Fickle(.onRequest))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 5)
    #expect(await scene.told(1) == ["status 0"])
    try? await Task.sleep(for: .milliseconds(30))
    #expect(scene.scanner.demands.isEmpty)
    scene.manager.requestWhenInUseAuthorization()
    #expect(await scene.told(2)[1] == "status 4")
    scene.scanner.clock.advance(by: 1)
    #expect(await scene.told(3)[2].hasPrefix("range"))
  }

  @Test func requestsAreAnsweredOnce() async {
    let scene = Scene(authorization: Fickle(.onRequest))
    _ = await scene.told(1)
    scene.manager.requestWhenInUseAuthorization()
    scene.manager.requestWhenInUseAuthorization()
    // Always may be asked for once more.
    scene.manager.requestAlwaysAuthorization()
    // What is told is the authorization at that time.
    await eventually { scene.listener.all.last == "status 3" }
    scene.manager.requestWhenInUseAuthorization()
    try? await Task.sleep(for: .milliseconds(30))
    #expect(scene.manager.authorizationStatus == .authorizedAlways)
    #expect(
      [["status 0", "status 3"], ["status 0", "status 4", "status 3"]].contains(scene.listener.all))
  }

  /// Programs request the authorization right after they have made a manager: it is told once, not also as a change.
  @Test func anAuthorizationThatIsRequestedAtOnceIsToldOnce() async {
    let scene = Scene(authorization: Fickle(.onRequest))
    scene.manager.requestAlwaysAuthorization()
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    await eventually { scene.listener.all.contains("monitors lobby") }
    try? await Task.sleep(for: .milliseconds(30))
    #expect(scene.listener.all.filter { $0 == "status 3" }.count == 1, "\(scene.listener.all)")
  }

  /// A report that found no delegate is made up for when there is one, which may be beside the report of a change.
  @Test func aDelegateBesideAChangeIsToldOnce() {
    let queue = DispatchQueue(label: "delegate")
    let scene = Scene(authorization: Fickle(.onRequest)) { $0.delegateQueue = queue }
    let manager = CLLocationManager(services: scene.services)
    queue.sync {}
    queue.suspend()
    manager.requestAlwaysAuthorization()
    let listener = Listener()
    manager.delegate = listener
    queue.resume()
    #expect(eventually { !listener.all.isEmpty })
    queue.sync {}
    #expect(listener.all == ["status 3"])
  }

  @Test func whatChangesIsTold() async {
    let administrator = Fickle(.granted(.authorizedAlways))
    let scene = Scene(authorization: administrator)
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 1)
    _ = await scene.told(2)
    administrator.current.withLock { $0 = .restricted }
    #expect(await scene.told(3).contains("status 1"), "\(scene.listener.all)")
    administrator.current.withLock { $0 = .granted(.authorizedAlways) }
    // The ranging that was withdrawn is a failure.
    #expect(await scene.told(5).last == "status 3")
  }

  @Test(arguments: [AuthorizationRule.denied, .restricted])
  func refusedIsTold(rule: AuthorizationRule) async {
    let scene = Scene(authorization: Fickle(rule))
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.manager.requestState(for: Scene.region("lobby"))
    let status = rule == .denied ? 2 : 1
    #expect(
      await scene.told(4) == [
        "status \(status)", "cannot monitor lobby 4", "cannot range 1", "state lobby 0",
      ])
  }

  /// Apps that only implement the methods for failures hear of it too.
  @Test func aPermissionThatIsWithdrawnIsAFailureOfEachService() async {
    let administrator = Fickle(.granted(.authorizedAlways))
    let scene = Scene(authorization: administrator)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    _ = await scene.told(2)
    administrator.current.withLock { $0 = .denied }
    _ = scene.manager.authorizationStatus
    let told = ["status 2", "cannot range 1", "cannot monitor lobby 4"]
    #expect(await eventually { Set(scene.listener.all.dropFirst(2)) == Set(told) })
    #expect(scene.listener.all.count == 5, "\(scene.listener.all)")
  }

  @Test func aDelegateThatComesLateIsToldOnce() async {
    let services = Scene().services
    let manager = CLLocationManager(services: services)
    let listener = Listener()
    try? await Task.sleep(for: .milliseconds(30))
    manager.delegate = listener
    #expect(await listener.lines(1) == ["status 3"])
    try? await Task.sleep(for: .milliseconds(30))
    #expect(listener.all.count == 1)
  }

  @Test func administratorsFile() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "auth-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "authorization.json")
    let system = SystemAuthorization(path: file.path)
    #expect(system.rule(for: "kiosk", scanner: .available) == .onRequest)
    #expect(system.rule(for: "kiosk", scanner: .notPermitted("no")) == .denied)
    #expect(system.rule(for: "kiosk", scanner: .unavailable("gone")) == .onRequest)
    for (text, rule) in [
      (#"{"kiosk": "always"}"#, AuthorizationRule.granted(.authorizedAlways)),
      (#"{"kiosk": "whenInUse", "*": "denied"}"#, .granted(.authorizedWhenInUse)),
      (#"{"game": "always", "*": "denied"}"#, .denied),
      (#"{"game": "always"}"#, .onRequest),
      (#"{"kiosk": "restricted"}"#, .restricted),
      (#"{"kiosk": "yes"}"#, .restricted), ("{", .restricted),
    ] {
      try Data(text.utf8).write(to: file)
      // The same size in the same instant might be the same file.
      #expect(SystemAuthorization(path: file.path).rule(for: "kiosk", scanner: .available) == rule)
    }
    try Data(#"{"kiosk": "denied"}        "#.utf8).write(to: file)
    #expect(system.rule(for: "kiosk", scanner: .available) == .denied)
    try Data(#"{"kiosk": "always"}"#.utf8).write(to: file)
    #expect(system.rule(for: "kiosk", scanner: .notPermitted("no")) == .denied)
  }
}
