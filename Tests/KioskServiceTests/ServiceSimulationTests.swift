import Foundation
import TestSupport
import Testing

/// The service's state machines on a simulated disk, driven by a seeded scheduler; ``ServiceSimulation`` has the promises.
@Suite(.blocking, .timeLimit(.minutes(30))) struct ServiceSimulationTests {
  /// `SERVICE_SEEDS=10000` as CI runs it, some 80 s of a processor; `SERVICE_SEED=17` for one.
  @Test func thePromisesAreKept() async throws {
    let environment = ProcessInfo.processInfo.environment
    let one = environment["SERVICE_SEED"].flatMap(UInt64.init)
    let count = environment["SERVICE_SEEDS"].flatMap(UInt64.init) ?? 300
    let (start, began) = (clock(), ContinuousClock.now)
    let folder = SimulationFolder()
    var tally = ServiceSimulation.Tally()
    var failed = 0
    for seed in one.map({ $0...$0 }) ?? 0...(max(1, count) - 1) {
      var simulation = try ServiceSimulation(seed: seed, in: folder.path)
      let wrong = try await simulation.run()
      #expect(wrong.isEmpty, "SERVICE_SEED=\(seed): \(wrong.prefix(3).joined(separator: "; "))")
      tally += simulation.tally
      if !wrong.isEmpty { failed += 1 }
      guard failed < 5 else { break }
    }
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    print("\(tally), \(began.duration(to: .now)), \(seconds) s of processor time")
    #expect(tally.entries > 10 || one != nil)
  }
}

/// A folder in memory where there is one, so that a sync costs nothing.
private final class SimulationFolder {
  let path: String

  init() {
    let memory = FileManager.default.isWritableFile(atPath: "/dev/shm")
    let root = memory ? "/dev/shm" : FileManager.default.temporaryDirectory.path
    path = "\(root)/beaconscan-\(ProcessInfo.processInfo.processIdentifier)"
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
