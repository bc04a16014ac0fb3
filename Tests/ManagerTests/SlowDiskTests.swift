import TestSupport
import Testing

/// The whole core on a disk whose syncs take 2 s or more.
@Suite(.blocking) struct SlowDiskTests {
  /// The process lets a sync return when everything that must not wait for it has come, the delegate's calls for
  /// registrations and regions among it, so that a core that waited would never get there.
  @Test func aSlowSyncDelaysNoCallerAndNoOtherClient() throws {
    let scratch = try Scratch()
    let run = try ChildRun(
      "ManagerTorture", [scratch["state"], "slow"], syncs: "held", in: scratch
    )
    .finish()
    #expect(run.status == 0, "\(run.output)")
    print(run.output)
    let lines = run.output.split(separator: "\n")
    #expect(lines.contains("packets 1100 1100"), "none was lost")
    #expect(lines.contains("registered 1020 inside 1"))
    // 1,010 registrations: the transaction that ran, and one for all others. A transaction takes two syncs at most.
    let syncs = lines.compactMap { $0.hasPrefix("syncs ") ? Int($0.dropFirst(6)) : nil }
    #expect(syncs.count == 1 && syncs.allSatisfy { $0 <= 8 })
  }

  @Test func sharedServicesAreMadeWithoutALock() throws {
    let scratch = try Scratch()
    let run = try ChildRun(
      "ManagerTorture", ["shared"], ["BEACONSCAN_REPLAY": "none", "BEACONSCAN_SPEED": "never"],
      in: scratch
    ).finish()
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(lines == ["logged", "bootstrapped", "made"], "\(run.output)")
  }
}
