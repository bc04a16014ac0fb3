import CSQLite
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Storage

/// Where the file lies, whose it is, and what is refused.
@Suite(.blocking) struct FileTests {
  /// The sentence with which a store is refused.
  private func refusal(_ path: String, _ schema: Schema = Schema()) -> String {
    do throws(StorageError) {
      _ = try Store(.file(path), nil, schema)
      return "it was opened"
    } catch {
      return "\(error)"
    }
  }

  @Test func theStateDirectoryIsXDGs() throws {
    func file(_ name: String, _ variables: [String: String]) throws -> String {
      try StatePath.file(for: name) { variables[$0] }.string
    }
    #expect(
      try file("org.example", ["XDG_STATE_HOME": "/x", "HOME": "/h"])
        == "/x/corelocation/org.example.sqlite")
    for relative in ["", "relative/path", "./x"] {
      #expect(
        try file("a", ["XDG_STATE_HOME": relative, "HOME": "/h"])
          == "/h/.local/state/corelocation/a.sqlite")
    }
    for (identifier, name) in [
      ("a/b", "a%2Fb"), ("..", "%2E."), (".x", "%2Ex"), ("a%2Fb", "a%252Fb"), ("Ä", "%C3%84"),
      ("a b\n", "a%20b%0A"), ("A-_9.z", "A-_9.z"),
    ] {
      #expect(try file(identifier, ["HOME": "/"]).hasSuffix("/corelocation/\(name).sqlite"))
    }
    let long = String(repeating: "é", count: 400)
    #expect(try file(long + "a", ["HOME": "/h"]) != file(long + "b", ["HOME": "/h"]))
    #expect(throws: StorageError(file: "a", problem: .noHome)) {
      try file("a", ["HOME": "here", "XDG_STATE_HOME": "there"])
    }
    #expect(throws: StorageError(file: "(no file)", problem: .noIdentifier)) {
      try file("", ["HOME": "/h"])
    }
  }

  @Test func missingDirectoriesAreMadeForThisUserAlone() throws {
    let scratch = try Scratch()
    #expect(throws: StorageError.self) { try Store(.file(scratch["x/y/s"])) }
    try StatePath.makeDirectory(FilePath(scratch["x/y"]))
    let store = try Store(.file(scratch["x/y/s"]))
    try store.writeAndWait([.setAuthorization("x")])
    for name in ["x", "x/y"] { #expect(try scratch.permissions(name) == 0o700) }
    for name in ["x/y/s", "x/y/s-wal", "x/y/s-readers", "x/y/s-log-1"] {
      #expect(try scratch.permissions(name) == 0o600)
    }
  }

  @Test func aRelativePathStaysWhereItWas() throws {
    let scratch = try Scratch()
    let manager = FileManager.default
    let before = manager.currentDirectoryPath
    // Up to the root and down again: other tests rely on the working directory.
    let up = before.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let store = try Store(.file(up + scratch["s"]))
    #expect(store.path == scratch["s"])
  }

  @Test(arguments: [
    ("file/s", "cannot open it (Not a directory)"), ("", "not a regular"),
    ("link", "not a regular"),
  ])
  func aPathThatCannotBeIsOneSentence(_ name: String, _ what: String) throws {
    let scratch = try Scratch()
    try scratch.write([], "file")
    try FileManager.default.createSymbolicLink(
      atPath: scratch["link"], withDestinationPath: scratch["nothing"])
    let sentence = refusal(name.isEmpty ? scratch.folder.path : scratch[name])
    #expect(sentence.contains(what) && sentence.contains(scratch.folder.path))
    #expect(!sentence.contains("\n"))
  }

  @Test func aPipeIsNoStore() throws {
    let scratch = try Scratch()
    try #require(unsafe mkfifo(scratch["s"], 0o600) == 0)
    #expect(refusal(scratch["s"]).contains("not a regular file"))
  }

  @Test(.enabled(if: getuid() == 0, "root alone can become another user"))
  func aDirectoryOfAnotherUserIsNamedAsSuch() throws {
    let scratch = try Scratch()
    try scratch.makeFolder("private")
    let refused = try ChildRun(
      "storage-torture", [scratch["private/s"], scratch["log"], "1", "nobody"], in: scratch
    )
    .finish()
    #expect(refused.status == 1)
    #expect(refused.output.contains("(Permission denied)"), "\(refused.output)")
    #expect(refused.output.contains("make the directory writable"))
    try Store(.file(scratch["private/s"])).close()
    let run = try ChildRun(
      "storage-torture", [scratch["private/s"], scratch["log"], "1", "nobody"], in: scratch
    )
    .finish()
    #expect(run.output.contains("(Permission denied)"), "\(run.output)")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func aFullDiskIsNamedAndLosesNothing() throws {
    let disk = try SmallDisk()
    let scratch = disk.scratch
    let store = try Store(.file(scratch["s"]))
    let first = store.event("a")
    try store.writeAndWait([.register(registration("a")), .add(first)])
    let ballast = unsafe open(scratch["ballast"], O_CREAT | O_WRONLY, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while unsafe write(ballast, block, block.count) > 0 {}
    let large = registration("b", [UInt8](repeating: 1, count: 60000))
    #expect {
      try store.writeAndWait([
        .register(large), .add(store.event("b")), .remove(registration("a").key),
      ])
    } throws: {
      "\($0)".contains("(No space left on device)") && "\($0)".contains("free some space")
    }
    #expect(store.failure != nil)
    store.settle(group: "", through: first.id)
    _ = ftruncate(ballast, 0)
    try store.writeAndWait([.register(registration("c")), .setAuthorization("x")])
    #expect(store.failure == nil)
    // The write that failed was tried again with the next one.
    store.close()
    close(ballast)
    _ = consume store
    do {
      let again = try Store(.file(scratch["s"]))
      #expect(again.registrations.map(\.key.identifier) == ["b", "c"])
      #expect(again.undelivered.map(\.region) == ["b"] && again.authorization == "x")
    }
    try disk.remountReadOnly()
    #expect(refusal(scratch["s"]).contains("(Read-only file system)"))
  }

  /// A write that failed is tried again, though nothing else is written.
  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func aFullDiskIsTriedAgain() throws {
    let disk = try SmallDisk()
    let scratch = disk.scratch
    let store = try Store(.file(scratch["s"]))
    try store.writeAndWait([.register(registration("a")), .setAuthorization("x")])
    let ballast = unsafe open(scratch["ballast"], O_CREAT | O_WRONLY, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while unsafe write(ballast, block, block.count) > 0 {}
    let large = registration("b", [UInt8](repeating: 1, count: 60000))
    #expect(throws: StorageError.self) {
      try store.writeAndWait([
        .register(large), .remove(registration("a").key), .setAuthorization(nil),
      ])
    }
    _ = ftruncate(ballast, 0)
    close(ballast)
    #expect(eventually { store.failure == nil })
    store.close()
    let again = try Store(.file(scratch["s"]))
    #expect(again.registrations == [large] && again.authorization == nil)
  }

  /// A directory that cannot be written when the store is opened, and can be later.
  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func aDatabaseThatCannotBeMadeIsMadeLater() throws {
    let disk = try SmallDisk()
    let scratch = disk.scratch
    let ballast = unsafe open(scratch["ballast"], O_CREAT | O_WRONLY, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while unsafe write(ballast, block, block.count) > 0 {}
    let store = try Store(.file(scratch["s"]))
    #expect(throws: StorageError.self) { try store.writeAndWait([.register(registration("a"))]) }
    _ = ftruncate(ballast, 0)
    close(ballast)
    #expect(eventually { store.failure == nil })
    store.close()
    #expect(try Store(.file(scratch["s"])).registrations == [registration("a")])
  }

  @Test func twoStoresCannotShareAFile() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    store.flush()
    let sentence = refusal(scratch["s"])
    #expect(sentence.contains("process \(getpid()) (") && sentence.contains("stop it first"))
    try store.writeAndWait([.register(registration("a"))])
    _ = consume store
    #expect(try Store(.file(scratch["s"])).registrations.count == 1)
  }

  @Test func twoProcessesCannotShareAFile() throws {
    let scratch = try Scratch()
    try scratch.write([], "log")
    let run = try ChildRun(
      "storage-torture", [scratch["s"], scratch["log"], "1", "hold"], in: scratch)
    defer { run.kill() }
    try eventually { try scratch.bytes("log").first ?? 0 != 0 }
    #expect(refusal(scratch["s"]).contains("process \(run.identifier) (storage-torture)"))
  }

  @Test(arguments: [
    ("Buy milk.\n", "it is not a state database"), ("x", "it is not a state database"),
    (
      #"{"sum":"57cb1e1e","format":"corelocation-regions","version":1}"# + "\n",
      "it has the format of an earlier version"
    ),
  ])
  func aFileOfSomebodyElseIsNotTouched(_ text: String, _ what: String) throws {
    let scratch = try Scratch()
    try scratch.write(Array(text.utf8), "notes.txt")
    let sentence = refusal(scratch["notes.txt"])
    #expect(sentence.contains(what) && sentence.contains("name another file"))
    #expect(sentence.contains(scratch["notes.txt"]) && sentence.contains("not changed"))
    #expect(try scratch.bytes("notes.txt") == Array(text.utf8))
    #expect(scratch.names == ["notes.txt"])
  }

  @Test func theDatabaseOfAnotherApplicationIsNotTouched() throws {
    let scratch = try Scratch()
    try execute("CREATE TABLE contact (name TEXT)", scratch["contacts.db"])
    let bytes = try scratch.bytes("contacts.db")
    #expect(refusal(scratch["contacts.db"]).contains("SQLite database of another application"))
    #expect(try scratch.bytes("contacts.db") == bytes && scratch.names == ["contacts.db"])
  }

  /// Runs SQL on a database as any program can.
  private func execute(_ text: String, _ path: String) throws {
    var handle: OpaquePointer?
    try #require(unsafe sqlite3_open(path, &handle) == SQLITE_OK)
    defer { unsafe sqlite3_close(handle) }
    try #require(unsafe sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK)
  }

  @Test func anEmptyFileBecomesADatabase() throws {
    let scratch = try Scratch()
    try scratch.write([], "s")
    try Store(.file(scratch["s"])).writeAndWait([.register(registration("a"))])
    #expect(try Store(.file(scratch["s"])).registrations.count == 1)
  }

  @Test func anOlderSchemaIsBroughtToTheNewest() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let event = store.event("a")
    try store.writeAndWait([.register(registration("a", [1], [2])), .add(event)])
    store.close()
    let newer = Schema(
      steps: Schema.steps + ["CREATE TABLE more_history (serial INTEGER PRIMARY KEY)"])
    let migrated = try Store(.file(scratch["s"]), nil, newer)
    #expect(migrated.registrations == [registration("a", [1], [2])])
    #expect(migrated.undelivered == [event])
    migrated.close()
    try execute("INSERT INTO more_history VALUES (1)", scratch["s"])
    // A step that fails leaves all as it was.
    let bytes = try scratch.bytes("s")
    let wrong = Schema(steps: newer.steps + ["CREATE TABLE more (x); nonsense"])
    #expect(refusal(scratch["s"], wrong).contains("nonsense"))
    let known = Schema.steps.count
    #expect(
      refusal(scratch["s"]).contains(
        "version \(known + 1) of the schema and this program knows versions up to \(known)"))
    #expect(try scratch.bytes("s") == bytes)
    #expect(try Store(.file(scratch["s"]), nil, newer).registrations.count == 1)
  }

  @Test(arguments: 0..<40)
  func aDamagedDatabaseIsNoTrap(_ seed: UInt64) throws {
    print("seed \(seed)")
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    try store.writeAndWait(
      (0..<100).map { .register(registration("r\($0)", [UInt8](repeating: 1, count: 300))) })
    store.close()
    var bytes = try scratch.bytes("s")
    var random = SplitMix64(seed: seed)
    if seed == 0 {
      // All but the header's page.
      bytes.replaceSubrange(4096..., with: random.bytes(bytes.count - 4096))
    } else {
      for _ in 0..<(1 + random.next() % 8) {
        let start = 100 + Int(random.next() % UInt64(bytes.count - 200))
        bytes.replaceSubrange(start..<start + 64, with: random.bytes(64))
      }
    }
    try scratch.write(bytes, "s")
    let again = try Store(.file(scratch["s"]))
    #expect(again.warnings.count == (scratch.names.contains("s.damaged-1") ? 1 : 0))
    if let warning = again.warnings.first {
      #expect(warning.contains("\(scratch["s.damaged-1"])") && !warning.contains("\n"))
      #expect(try scratch.bytes("s.damaged-1") == bytes)
      try again.writeAndWait([.register(registration("new"))])
      again.close()
      #expect(try Store(.file(scratch["s"])).registrations == [registration("new")])
    }
    #expect(seed != 0 || again.warnings.count == 1)
  }

  @Test(arguments: [UInt8(0xFF), 0x00, 0x55])
  func damagedPositionsAreNoTrap(_ byte: UInt8) throws {
    let scratch = try Scratch()
    var event: StoredEntry?
    do {
      let store = try Store(.file(scratch["s"]))
      let new = store.event("a")
      try store.writeAndWait([.add(new)])
      event = new
    }
    try scratch.write(
      Array("CLread01".utf8) + [UInt8](repeating: byte, count: 4088), "s-readers")
    #expect(try Store(.file(scratch["s"])).undelivered == [try #require(event)])
    try scratch.write([], "s-readers")
    #expect(try Store(.file(scratch["s"])).undelivered.count == 1)
    try scratch.write(Array("something else".utf8), "s-readers")
    #expect(refusal(scratch["s"]).contains("s-readers: it is not a state database"))
  }
}
