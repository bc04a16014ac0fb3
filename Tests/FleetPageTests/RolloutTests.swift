import Clocks
import FleetPicture
import Testing

@testable import FleetPage

/// A site of receivers that do as they are told, but for some.
@Suite struct RolloutTests {
  private struct Fleet {
    var rollout = Rollout()
    var receivers: [SitePicture.Receiver]
    var wanted: [String: String] = [:]
    var now = MonotonicTime(nanoseconds: 0)
    /// Those that refuse, that do not report again, and that know no configurations.
    var refusing: Set<String> = []
    var dying: Set<String> = []
    var silent: Set<String> = []
    /// Those whose trial never ends.
    var stuck: Set<String> = []
    var sent: [String] = []
    private var tries: [String: Int] = [:]

    init(_ count: Int) {
      receivers = (0..<count).map {
        SitePicture.Receiver(
          name: "r\($0)", lastReport: nil, isMissing: false, receptionLost: nil, beacons: 0,
          clockDifference: nil)
      }
    }

    mutating func want(_ version: String) {
      wanted = Dictionary(receivers.map { ($0.name, version) }, uniquingKeysWith: { $1 })
    }

    /// The receivers that use a version.
    func using(_ version: String) -> Int {
      receivers.count { $0.configuration?.version == version }
    }

    mutating func pass(_ seconds: Int) {
      for _ in 0..<seconds / 2 {
        for name in rollout.next(receivers, wanted: wanted, at: now) {
          sent.append(name)
          guard !silent.contains(name), let index = receivers.firstIndex(where: { $0.name == name })
          else { continue }
          var configuration = receivers[index].configuration ?? .init()
          if refusing.contains(name) {
            configuration.refused = wanted[name]
            configuration.reason = "no"
          } else {
            configuration.trial = wanted[name]
            receivers[index].isMissing = dying.contains(name)
            tries[name] = 0
          }
          receivers[index].configuration = configuration
        }
        for index in receivers.indices where receivers[index].configuration?.trial != nil {
          let name = receivers[index].name
          tries[name, default: 0] += 2
          guard tries[name, default: 0] >= 60, !receivers[index].isMissing, !stuck.contains(name)
          else { continue }
          receivers[index].configuration = .init(version: receivers[index].configuration?.trial)
        }
        now = now.advanced(bySeconds: 2)
      }
    }
  }

  @Test func `nothing is sent to a site without configurations`() {
    var fleet = Fleet(3)
    fleet.pass(1000)
    #expect(fleet.sent.isEmpty)
  }

  @Test func `a tenth of the receivers at a time, until all have it`() {
    var fleet = Fleet(20)
    fleet.want("a")
    fleet.pass(2)
    #expect(fleet.sent == ["r0", "r1"])
    fleet.pass(58)
    #expect(fleet.sent.count == 2)
    fleet.pass(4)
    #expect(fleet.sent == ["r0", "r1", "r2", "r3"])
    fleet.pass(800)
    #expect(fleet.using("a") == 20 && fleet.sent.count == 20)
    // Another version begins anew.
    fleet.want("b")
    fleet.pass(800)
    #expect(fleet.using("b") == 20 && fleet.sent.count == 40)
  }

  @Test func `the first refusal stops a version, and another one goes on`() {
    var fleet = Fleet(20)
    fleet.refusing = ["r3"]
    fleet.want("a")
    fleet.pass(1000)
    #expect(fleet.using("a") == 3 && fleet.sent == ["r0", "r1", "r2", "r3"])
    fleet.refusing = []
    fleet.want("b")
    fleet.pass(1000)
    #expect(fleet.using("b") == 20)
  }

  @Test func `a receiver that does not return stops a version, also for another sender`() {
    var fleet = Fleet(20)
    fleet.dying = ["r1"]
    fleet.want("a")
    fleet.pass(1000)
    // The other one that had it by then keeps it.
    #expect(fleet.sent == ["r0", "r1"] && fleet.using("a") == 1)
    fleet.rollout = Rollout()
    fleet.pass(1000)
    #expect(fleet.sent == ["r0", "r1"])
    // It returns with the one before, as it refuses this one.
    fleet.receivers[1].isMissing = false
    fleet.receivers[1].configuration = .init(refused: "a", reason: "it ended")
    fleet.pass(1000)
    #expect(fleet.sent == ["r0", "r1"])
    fleet.dying = []
    fleet.want("b")
    fleet.pass(1000)
    #expect(fleet.using("b") == 20)
  }

  @Test func `a receiver that is away gets it when it is back`() {
    var fleet = Fleet(3)
    fleet.receivers[0].isMissing = true
    fleet.want("a")
    fleet.pass(400)
    #expect(fleet.using("a") == 2)
    fleet.receivers[0].isMissing = false
    fleet.pass(100)
    #expect(fleet.using("a") == 3)
  }

  @Test func `a receiver that does not react holds up the others for two minutes`() {
    var fleet = Fleet(3)
    fleet.silent = ["r0"]
    fleet.want("a")
    fleet.pass(118)
    #expect(Set(fleet.sent) == ["r0"] && fleet.sent.count == 6)
    fleet.pass(200)
    #expect(fleet.using("a") == 2)
    let count = fleet.sent.count
    fleet.pass(3600)
    #expect(fleet.sent.count - count == 6)
    fleet.silent = []
    fleet.pass(700)
    #expect(fleet.using("a") == 3)
  }

  @Test func `one that reports, and neither uses nor refuses it for ten minutes, has not taken it`()
  {
    var fleet = Fleet(2)
    fleet.silent = ["r1"]
    fleet.want("a")
    // The first one has it after a minute.
    fleet.pass(62 + 598)
    #expect(fleet.rollout.untaken.isEmpty)
    fleet.pass(20)
    #expect(fleet.rollout.untaken == ["r1"] && fleet.using("a") == 1)
    // Without reports, nothing is known.
    fleet.receivers[1].isMissing = true
    fleet.pass(600)
    #expect(fleet.rollout.untaken.isEmpty)
    fleet.receivers[1].isMissing = false
    fleet.pass(598)
    #expect(fleet.rollout.untaken.isEmpty)
    fleet.pass(10)
    #expect(fleet.rollout.untaken == ["r1"])
    fleet.silent = []
    fleet.pass(700)
    #expect(fleet.rollout.untaken.isEmpty && fleet.using("a") == 2)
  }

  @Test func `a refusal is an answer, and an endless trial is none`() {
    var fleet = Fleet(2)
    fleet.refusing = ["r0"]
    fleet.want("a")
    fleet.pass(2000)
    #expect(fleet.rollout.untaken.isEmpty)
    // Another service has sent it.
    fleet.receivers[0].configuration = .init(trial: "b")
    fleet.want("b")
    fleet.stuck = ["r0"]
    fleet.pass(600)
    #expect(fleet.rollout.untaken.isEmpty)
    fleet.pass(4)
    #expect(fleet.rollout.untaken == ["r0"])
  }

  @Test func `receivers that react late are a tenth at a time, too`() {
    var fleet = Fleet(20)
    fleet.silent = Set(fleet.receivers.map(\.name))
    fleet.want("a")
    fleet.pass(3600)
    fleet.silent = []
    fleet.sent = []
    fleet.pass(60)
    #expect(!fleet.sent.isEmpty && fleet.sent.count <= 2)
    fleet.pass(20_000)
    #expect(fleet.using("a") == 20)
  }

  @Test func `a receiver that ends twice in order meanwhile stops a version`() {
    var fleet = Fleet(20)
    fleet.want("a")
    for _ in 0..<2 {
      fleet.pass(30)
      // It starts again without the version, and states no reason.
      for index in 0..<2 { fleet.receivers[index].configuration = nil }
      fleet.pass(2)
    }
    fleet.pass(1000)
    #expect(Set(fleet.sent) == ["r0", "r1"])
  }

  @Test func `one receiver can have a version of its own`() {
    var fleet = Fleet(3)
    fleet.want("a")
    fleet.wanted["r1"] = "b"
    fleet.refusing = ["r1"]
    fleet.pass(400)
    #expect(fleet.using("a") == 2 && fleet.sent == ["r0", "r1", "r2"])
  }
}
