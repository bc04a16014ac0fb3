import Advertising
import BeaconTesting
import CoreLocation
import Scanning
import Testing

/// `LocationServices.health`: who listens is given what is so, and then every change.
@Suite struct HealthStreamTests {
  @Test func aNewListenerIsGivenTheLatestOfEachAdapter() async {
    let scene = Scene()
    let script = scene.scanner
    script.report(.scanning, at: 0)
    script.report(.scanning, at: 0, adapter: 1)
    script.report(.down, at: 2, isReceptionLost: false)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    var early = scene.services.health.makeAsyncIterator()
    script.clock.advance(by: 5)
    #expect(await early.next()?.adapter == "hci0")
    #expect(await early.next()?.adapter == "hci1")
    #expect(await early.next()?.condition == .down)
    var late = scene.services.health.makeAsyncIterator()
    let known = [await late.next(), await late.next()]
    #expect(known.map { $0?.adapter } == ["hci1", "hci0"])
    #expect(known.map { $0?.condition } == [.scanning, .down])
    #expect(known[1]?.time == script.clock.now.advanced(by: -3_000_000_000))
    script.report(.scanning, at: 6)
    script.clock.advance(by: 2)
    #expect(await early.next()?.condition == .scanning)
    #expect(await late.next()?.condition == .scanning)
  }

  @Test func itEndsWithTheScanner() async {
    let scene = Scene()
    scene.scanner.report(.scanning, at: 0)
    scene.scanner.finish(at: 1)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 2)
    var conditions: [ScannerHealth.Condition] = []
    for await health in scene.services.health { conditions.append(health.condition) }
    #expect(conditions == [.scanning])
    // Who comes later is told the last word, and no more.
    for await health in scene.services.health { conditions.append(health.condition) }
    #expect(conditions == [.scanning, .scanning])
  }

  @Test func aSlowListenerIsLeftTheNewest() async {
    let scene = Scene()
    for number in 0..<200 { scene.scanner.report(.quiet, "\(number)", at: Double(number) / 200) }
    let health = scene.services.health
    scene.scanner.finish(at: 2)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 3)
    try? await scene.services.ended()
    var sentences: [String] = []
    for await change in health { sentences.append(change.sentence) }
    #expect(sentences == (136..<200).map { "\($0)" })
  }

  @Test func whatIsSaidOfAllAdaptersReplacesWhatWasSaidOfEach() async {
    let scene = Scene()
    scene.scanner.report(.scanning, at: 0)
    scene.scanner.report(.scanning, at: 0, adapter: 1)
    scene.scanner.report(.noBluetooth, at: 1, adapter: nil)
    scene.scanner.finish(at: 2)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 3)
    try? await scene.services.ended()
    var conditions: [ScannerHealth.Condition] = []
    for await health in scene.services.health { conditions.append(health.condition) }
    #expect(conditions == [.noBluetooth])
  }
}
