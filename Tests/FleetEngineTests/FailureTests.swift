import Foundation
import TestDaemons
import TestSupport
import Testing

@testable import FleetEngine

/// No failure loses, doubles or reorders a transition: they are those of a run without faults.
@Suite(.blocking, .rabbitmq) struct FailureTests {
  @Test(arguments: [1, 2]) func `workers are killed`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let fleet = try Fleet(Reports(sites: ["a", "b", "c"], receivers: 10, rounds: 100))
    try fleet.start()
    let feeder = try Feeder(fleet)
    defer { feeder.stop() }
    var workers = [try fleet.worker(), try fleet.worker()]
    // A kill for each twelfth of the reports, at any moment of its processing.
    for part in 1...12 {
      feeder.feed(upTo: fleet.reports.count * part / 12)
      usleep(UInt32(random.uniform(0, 300_000)))
      let index = Int(random.next() % 2)
      workers[index].kill()
      workers[index] = try fleet.worker()
    }
    fleet.expectAll()
    for worker in workers { worker.kill() }
  }

  @Test func `a worker is frozen beyond its heartbeat, and another takes over`() throws {
    let fleet = try Fleet(Reports(sites: ["a", "b"], receivers: 10, rounds: 60))
    try fleet.start()
    let feeder = try Feeder(fleet)
    defer { feeder.stop() }
    let first = try fleet.worker()
    feeder.feed(upTo: fleet.reports.count / 3)
    // It has all shards.
    #expect(eventually { fleet.count > 0 })
    let second = try fleet.worker()
    kill(first.identifier, SIGSTOP)
    feeder.feed(upTo: fleet.reports.count * 2 / 3)
    #expect(eventually { fleet.count >= fleet.expectedCount * 2 / 3 })
    kill(first.identifier, SIGCONT)
    feeder.feed(upTo: fleet.reports.count)
    fleet.expectAll()
    second.kill()
    first.kill()
  }

  /// What the node has of a queue that it had just declared does not work afterwards.
  @Test(arguments: [false, true])
  func `the node is killed while a new fleet is set up`(hasQueues: Bool) throws {
    let fleet = try Fleet(Reports(sites: ["a", "b"], receivers: 10, rounds: 10))
    _ = try Topology.begin(fleet.configuration, on: fleet.connect())
    if hasQueues {
      // The time in which the node stores what keeps the streams.
      try fleet.node.restart(isOrderly: true)
      try Topology.declareQueues(fleet.configuration, on: fleet.connect())
    }
    try fleet.node.restart()
    try fleet.start()
    let feeder = try Feeder(fleet)
    defer { feeder.stop() }
    let worker = try fleet.worker()
    feeder.feed(upTo: fleet.reports.count)
    fleet.expectAll()
    worker.kill()
  }

  @Test func `another worker waits while one sets up a new fleet`() throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 10))
    let first = try fleet.connect()
    try Topology.lock(first)
    let error = #expect(throws: EngineError.self) { try fleet.declare() }
    #expect(error?.description.hasPrefix("another worker sets up") == true)
    try Topology.declare(fleet.configuration, on: first)
    try fleet.declare()
  }

  @Test func `the node ends and comes back`() throws {
    let fleet = try Fleet(Reports(sites: ["a", "b"], receivers: 10, rounds: 60))
    try fleet.start()
    let feeder = try Feeder(fleet)
    defer { feeder.stop() }
    let worker = try fleet.worker()
    feeder.feed(upTo: fleet.reports.count / 3)
    #expect(eventually { fleet.count > 0 })
    // A node keeps new queues for certain when it ends in order, or some seconds after their declaration.
    try fleet.node.restart(isOrderly: true)
    feeder.feed(upTo: fleet.reports.count * 2 / 3)
    #expect(eventually { fleet.count > fleet.expectedCount / 2 })
    try fleet.node.restart()
    feeder.feed(upTo: fleet.reports.count)
    fleet.expectAll()
    worker.kill()
  }
}
