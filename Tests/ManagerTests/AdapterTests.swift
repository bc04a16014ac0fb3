import BeaconTesting
import CoreLocation
import Regions
import Scanning
import TestSupport
import Testing

/// What several adapters hear is one beacon: one presence, with the louder one's signal.
@Suite struct AdapterTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  /// A visitor who comes at 5 s and leaves at 65 s, heard by two adapters, each with its own losses.
  private func scene(
    seed: UInt64, near: [ClosedRange<Double>], far: [ClosedRange<Double>]
  ) -> Scene {
    let scene = Scene()
    var random = SplitMix64(seed: seed)
    for step in 50..<650 {
      let time = Double(step) / 10 + 0.01 * random.uniform()
      if near.contains(where: { $0.contains(time) }), random.uniform() < 0.9 {
        let rssi = Int8(-62 + 4 * random.uniform())
        scene.scanner.add(Scene.frame(7), rssi: rssi, at: time)
      }
      if far.contains(where: { $0.contains(time) }), random.uniform() < 0.7 {
        let rssi = Int8(-82 + 4 * random.uniform())
        scene.scanner.add(Scene.frame(7), rssi: rssi, at: time + 0.0004, adapter: 1)
      }
    }
    return scene
  }

  private func run(_ scene: Scene) async -> (events: [String], signals: [Int]) {
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 120.5)
    await eventually { scene.listener.all.count(where: { $0.hasPrefix("range") }) >= 120 }
    let lines = scene.listener.all
    return (
      lines.filter { $0.hasPrefix("enter") || $0.hasPrefix("exit") },
      lines.filter { $0.hasPrefix("range 7@") }.compactMap { Int($0.dropFirst(8)) }
    )
  }

  @Test(arguments: 1...5)
  func bothHearAllTheTime(seed: UInt64) async {
    let (events, signals) = await run(scene(seed: seed, near: [0...100], far: [0...100]))
    #expect(events == ["enter lobby", "exit lobby"])
    #expect(signals.filter { $0 != 0 }.allSatisfy { (-64 ... -56).contains($0) }, "\(signals)")
  }

  /// The near one dies, and comes back; the far one comes late.
  @Test(arguments: 1...5)
  func oneDiesAndReturns(seed: UInt64) async {
    let (events, signals) = await run(
      scene(seed: seed, near: [0...25, 45...100], far: [15...100]))
    #expect(events == ["enter lobby", "exit lobby"])
    let far = signals.count { (-84 ... -76).contains($0) }
    #expect((17...22).contains(far), "\(signals)")
    // Only where the links change does a second have some of both.
    #expect(signals.count { (-75 ... -65).contains($0) } <= 3, "\(signals)")
    // The second in which the other one takes over may have no signal that counts.
    #expect(signals.prefix(60).count { $0 == 0 } <= 1, "\(signals)")
  }

  @Test(arguments: 1...5)
  func theyTakeTurns(seed: UInt64) async {
    let even = stride(from: 0.0, to: 70, by: 6).map { $0...($0 + 3) }
    let odd = stride(from: 3.0, to: 70, by: 6).map { $0...($0 + 3) }
    let (events, signals) = await run(scene(seed: seed, near: even, far: odd))
    #expect(events == ["enter lobby", "exit lobby"])
    #expect(signals.count { $0 < -75 } >= 15)
  }
}
