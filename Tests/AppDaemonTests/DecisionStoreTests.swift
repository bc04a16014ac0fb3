import AppDaemon
import Foundation
import Logging
import Scanning
import ServiceCore
import TestSupport
import Testing

@Suite struct DecisionStoreTests {
  private let scratch: Scratch
  private let kiosk = AppIdentity("kiosk.service", strength: .systemUnit, user: 990)
  private let game = AppIdentity("/usr/games/game", strength: .claim, user: 1000)

  init() throws { scratch = try Scratch() }

  private func open() -> DecisionStore {
    DecisionStore(path: scratch["decisions.json"], logger: Logger(label: "test"))
  }

  private func decision(_ time: Int64) -> Decision {
    Decision(.denied, since: WallClockTime(nanoseconds: time), user: 1000)
  }

  @Test func decisionsOutliveTheProcess() throws {
    let store = open()
    #expect(store.all.isEmpty)
    let always = Decision(
      .authorizedAlways, wasAskedForAlways: true, since: WallClockTime(nanoseconds: 1),
      user: 990)
    store.set(always, for: kiosk)
    store.set(decision(2), for: game)
    #expect(open().all == [kiosk: always, game: decision(2)])
    store.set(nil, for: game)
    #expect(open().all == [kiosk: always])
    #expect(try scratch.permissions("decisions.json") == 0o600)
    #expect(scratch.names == ["decisions.json"])
  }

  @Test func anAppOfAnotherUserOrStrengthIsAnotherApp() {
    let store = open()
    store.set(decision(1), for: kiosk)
    #expect(store[kiosk] == decision(1))
    #expect(store[AppIdentity("kiosk.service", strength: .systemUnit, user: 991)] == nil)
    #expect(store[AppIdentity("kiosk.service", strength: .claim, user: 990)] == nil)
  }

  @Test(arguments: ["", "[", "{}", "[{\"app\": 1}]"])
  func aDamagedFileIsKeptAside(text: String) throws {
    try scratch.write(Array(text.utf8), "decisions.json")
    let store = open()
    #expect(store.all.isEmpty)
    store.set(decision(1), for: kiosk)
    #expect(open().all == [kiosk: decision(1)])
    #expect(try scratch.bytes("decisions.json.damaged") == Array(text.utf8))
  }

  /// A power cut leaves the temporary file in any state.
  @Test func anUnfinishedFileDoesNotCount() throws {
    open().set(decision(1), for: kiosk)
    try scratch.write(Array("[{".utf8), "decisions.json.new")
    let store = open()
    #expect(store.all == [kiosk: decision(1)])
    store.set(decision(2), for: kiosk)
    #expect(open().all == [kiosk: decision(2)])
  }

  @Test(.blocking) func everyStoredDecisionIsThereAfterAKill() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for round in 0..<20 {
      let run = try ChildRun("app-daemon-run", ["decide", scratch["decisions.json"]], in: scratch)
      usleep(UInt32.random(in: 0...100_000, using: &random))
      run.kill()
      let stored = run.remainingOutput.split(separator: "\n").last.flatMap { Int64($0) } ?? 0
      let newest = open().all.values.map(\.since.nanoseconds).max() ?? 0
      // The last one may be stored without its line.
      #expect((stored...stored + 1).contains(newest), "seed \(seed), round \(round)")
      #expect(open().all.count == min(50, Int(newest)), "seed \(seed), round \(round)")
      #expect(!scratch.names.contains("decisions.json.damaged"))
      try? FileManager.default.removeItem(atPath: scratch["decisions.json"])
    }
  }

  @Test func aDecisionThatCannotBeStoredHoldsInTheProcess() throws {
    let store = DecisionStore(path: scratch["no/decisions.json"], logger: Logger(label: "test"))
    store.set(decision(1), for: kiosk)
    #expect(store[kiosk] == decision(1))
  }

  @Test func theUsersOldestDecisionMakesRoom() throws {
    let entries = (0..<DecisionStore.capacity).map { number in
      """
      {"app": {"strength": 1, "user": 1, "identifier": "/\(number)"},
      "decision": {"status": "denied", "wasAskedForAlways": false, "since": \(number), "user": 1}}
      """
    }
    try scratch.write(Array("[\(entries.joined(separator: ","))]".utf8), "decisions.json")
    let store = open()
    #expect(store.all.count == DecisionStore.capacity)
    // Another user's decision takes nobody's place.
    store.set(decision(-1), for: kiosk)
    #expect(store.all.count == DecisionStore.capacity + 1)
    // An old date does not make the new decision the one that goes.
    let new = AppIdentity("/new", strength: .claim, user: 1)
    store.set(decision(-1), for: new)
    #expect(store.all.count == DecisionStore.capacity + 1)
    #expect(store[kiosk] != nil)
    #expect(store[new] != nil)
    #expect(store[AppIdentity("/0", strength: .claim, user: 1)] == nil)
    #expect(store[AppIdentity("/1", strength: .claim, user: 1)] != nil)
  }
}
