import Foundation
import RegionStorage
import Regions
import Scanning
import TestSupport
import Testing

/// Where the file lies, whose it is, and how long it grows.
@Suite struct FileTests {
  @Test func theStateDirectoryIsXDGs() throws {
    let scratch = try Scratch()
    let state = try RegionStore(
      applicationIdentifier: "org.example.kiosk",
      environment: ["XDG_STATE_HOME": scratch["x/y"], "HOME": scratch["home"]], synced: true)
    #expect(state.path == scratch["x/y/corelocation/org.example.kiosk.regions"])
    for name in ["x", "x/y", "x/y/corelocation"] {
      #expect(try scratch.permissions(name) == 0o700)
    }
    for suffix in ["", ".told", ".lock"] {
      let name = "x/y/corelocation/org.example.kiosk.regions" + suffix
      #expect(try scratch.permissions(name) == 0o600)
    }
  }

  @Test(arguments: [nil, "", "relative/path", "./x"] as [String?])
  func otherwiseItIsBelowHome(_ state: String?) throws {
    let scratch = try Scratch()
    var environment = ["HOME": scratch["home"]]
    environment["XDG_STATE_HOME"] = state
    let store = try RegionStore(
      applicationIdentifier: "a", environment: environment, synced: false)
    #expect(store.path == scratch["home/.local/state/corelocation/a.regions"])
  }

  @Test(arguments: [[:], ["HOME": ""], ["HOME": "here", "XDG_STATE_HOME": "there"]])
  func withoutAHomeItIsAnError(_ environment: [String: String]) {
    #expect(throws: StoreError(file: "a", problem: .noHome)) {
      try RegionStore(applicationIdentifier: "a", environment: environment)
    }
  }

  @Test(arguments: [
    ("a/b", "a%2Fb"), ("..", "%2E."), (".x", "%2Ex"), ("a%2Fb", "a%252Fb"), ("Ä", "%C3%84"),
    ("a b\n", "a%20b%0A"), ("A-_9.z", "A-_9.z"),
  ])
  func identifiersBecomeNames(_ identifier: String, _ name: String) throws {
    let scratch = try Scratch()
    let store = try RegionStore(
      applicationIdentifier: identifier, environment: ["HOME": scratch["h"]], synced: false)
    #expect(store.path.hasSuffix("/corelocation/\(name).regions"))
  }

  @Test func longIdentifiersAreToldApart() throws {
    let scratch = try Scratch()
    let long = String(repeating: "é", count: 400)
    let paths = try [long, long + "a", long + "b"].map {
      try RegionStore(
        applicationIdentifier: $0, environment: ["HOME": scratch["h"]], synced: false
      ).path
    }
    #expect(Set(paths).count == 3)
    #expect(throws: StoreError.self) {
      try RegionStore(applicationIdentifier: "", environment: ["HOME": scratch["h"]])
    }
  }

  @Test(arguments: [
    ("none/s", "open failed with errno 2"), ("file/s", "open failed with errno 20"),
    ("", "not a regular file"), ("link", "open failed with errno 40"),
  ])
  func aPathThatCannotBeIsOneSentence(_ name: String, _ what: String) throws {
    let scratch = try Scratch()
    try scratch.write([], "file")
    try FileManager.default.createSymbolicLink(
      atPath: scratch["link"], withDestinationPath: scratch["nothing/there"])
    let path = name.isEmpty ? scratch.folder.path : scratch[name]
    #expect {
      try unsynced(path)
    } throws: {
      "\($0)".contains(what) && "\($0)".contains(path) && !"\($0)".contains("\n")
    }
  }

  @Test func aDirectoryThatCannotBeWrittenIsAnError() throws {
    let scratch = try Scratch()
    // Permissions do not keep root from writing; this file system does.
    let path = getuid() == 0 ? "/proc/self/s" : scratch["s"]
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: 0o500)]
    try FileManager.default.setAttributes(attributes, ofItemAtPath: scratch.folder.path)
    #expect {
      try unsynced(path)
    } throws: {
      "\($0)".contains("open failed with errno") && "\($0)".contains(path)
    }
  }

  @Test func aPipeIsNoStore() throws {
    let scratch = try Scratch()
    try #require(unsafe mkfifo(scratch["s"], 0o600) == 0)
    #expect(throws: StoreError(file: scratch["s"], problem: .notAFile)) {
      try unsynced(scratch["s"])
    }
  }

  @Test func aSymbolicLinkStays() throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch["real"], withIntermediateDirectories: true)
    try scratch.write([], "real/s")
    try FileManager.default.createSymbolicLink(
      atPath: scratch["link"], withDestinationPath: scratch["real/s"])
    try unsynced(scratch["link"]).put(region("r"))
    #expect(try unsynced(scratch["real/s"]).regions.count == 1)
    #expect(scratch.names == ["link", "real"])
  }

  @Test func twoStoresCannotShareAFile() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    #expect(
      throws: StoreError(
        file: scratch["s"],
        problem: .inUse(process: getpid(), name: try? name(of: getpid())))
    ) { try unsynced(scratch["s"]) }
    _ = consume store
    _ = try unsynced(scratch["s"])
  }

  private func name(of process: Int32) throws -> String {
    try String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
  }

  @Test func twoProcessesCannotShareAFile() throws {
    let scratch = try Scratch()
    try scratch.write([], "log")
    let run = try TortureRun(scratch["s"], scratch["log"], "1", "hold")
    defer { run.kill() }
    try eventually { try !scratch.bytes("log").isEmpty }
    #expect {
      try unsynced(scratch["s"])
    } throws: {
      "\($0)".contains("process \(run.identifier) (region-store-to)") && "\($0)".contains("stop it")
    }
  }

  @Test func rewritingKeepsAll() throws {
    let scratch = try Scratch()
    var random = SplitMix64(seed: 9)
    let store = try unsynced(scratch["s"])
    try store.setAuthorization("always")
    try store.put((0..<100).map { region("r\($0)", owner: $0 % 2 == 0 ? "" : "m") })
    let untold = try store.record([crossing(of: "r0"), crossing(.exit, of: "r2")])
    var rewritten = 0
    var length = 0
    for round in 0..<3000 {
      let name = random.next() % 100
      var change = crossing(
        round % 2 == 0 ? .enter : .exit, of: "r\(name)", owner: name % 2 == 0 ? "" : "m",
        at: Int64(round))
      if round % 5 == 0 { change.event = nil }
      for event in try store.record([change]) { store.delivered(event.serial) }
      if round % 50 == 0 { try store.put(region("x\(round)")) }
      if round % 50 == 25 { try store.remove(region("x\(round - 25)").key) }
      let now = try scratch.bytes("s").count
      if now < length { rewritten += 1 }
      length = now
      // At most twice what counts, or 64 KiB.
      #expect(length < 160_000)
    }
    #expect(rewritten > 3)
    let before = Whole(store)
    #expect(before.pending == untold && before.regions.count == 100)
    #expect(store.remarks.isEmpty)
    _ = consume store
    let again = try unsynced(scratch["s"])
    #expect(Whole(again) == before)
    #expect(try scratch.permissions("s") == 0o600)
    #expect(scratch.names == ["s", "s.lock", "s.told"])
  }

  @Test func aChangeAmongTenThousandRegionsWritesOneLine() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put((0..<10000).map { region("region \($0)") })
    let length = try scratch.bytes("s").count
    let clock = ContinuousClock()
    var most = 0
    let time = try clock.measure {
      for round in 0..<1000 {
        let before = try FileManager.default.attributesOfItem(atPath: scratch["s"])[.size] as? Int
        _ = try store.record([crossing(of: "region \(round * 7)", at: Int64(round))])
        let after = try FileManager.default.attributesOfItem(atPath: scratch["s"])[.size] as? Int
        most = max(most, (after ?? .max) - (before ?? 0))
      }
    }
    print("1000 changes among 10000 regions: \(time); the file is \(length) bytes")
    #expect(most < 500)
    #expect(try scratch.bytes("s").count > length)
  }

  @Test func fileOfNoSensibleLengthIsSetAside() throws {
    let scratch = try Scratch()
    try scratch.write([], "s")
    // Sparse: it takes no room.
    try #require(unsafe truncate(scratch["s"], (256 << 20) + 1) == 0)
    let store = try unsynced(scratch["s"])
    #expect(store.remarks.count == 1 && scratch.names.contains("s.damaged-1"))
  }
}
