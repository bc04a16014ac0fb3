import Foundation
import Storage
import TestSupport
import Testing

/// A history whose process is killed, loses its power, or has a disk that refuses, at many moments of one life of the file.
///
/// What readers were given is the line that the process wrote after the store had it. No identifier is given twice; an
/// entry that is missing is one of the latest of its process, and the store knows of it.
@Suite(.blocking, .timeLimit(.minutes(60))) struct DiskFaultTests {
  enum Fault: String, CaseIterable {
    case kill, powerCut, full, readOnly

    var file: String? {
      switch self {
      case .full: "full"
      case .readOnly: "read-only"
      default: nil
      }
    }
  }

  /// How a process that has a fault of the disk ends.
  private enum End: UInt64 {
    case killedMeanwhile, killedAfterwards, byItself
  }

  /// What a process did.
  private struct Life {
    var generation = ""
    /// The tokens and identifiers that readers were given, in order, and which of them only from memory.
    var given: [(token: Int64, id: Int64)] = []
    var fromMemory: Set<Int64> = []
    var isClosed = false
  }

  /// 25 moments; `BEACONSCAN_LONG=1` for 500, `STORAGE_SEED` for others.
  @Test(arguments: Fault.allCases) func everyEntryIsKeptOrMissed(_ fault: Fault) throws {
    let environment = ProcessInfo.processInfo.environment
    let moments = environment["BEACONSCAN_LONG"] == "1" ? 500 : 25
    let seed = environment["STORAGE_SEED"].flatMap(UInt64.init) ?? 1
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    try scratch.makeFolder("disk")
    var lives: [Life] = []
    var missing = 0
    for moment in 1...UInt64(moments) {
      try scratch.makeFolder("copy")
      try scratch.write([], "log")
      let before = try files(scratch)
      let run = try ChildRun(
        "storage-torture",
        [scratch["disk/h"], scratch["log"], "\(seed * 1000 + moment)", "faults"],
        syncs: fault == .powerCut ? "copy" : "faults", in: scratch)
      let length = Int(random.next() % 3000)
      let log = URL(filePath: scratch["log"])
      #expect(try eventually { try Data(contentsOf: log).dropFirst(20 + length).first ?? 0 != 0 })
      usleep(UInt32(random.next() % 10000))
      let end = fault.file == nil ? nil : End(rawValue: random.next() % 3)
      if let file = fault.file {
        try scratch.write([], file)
        let isRefused = try eventually {
          try Data(contentsOf: log).range(of: Data("#M".utf8)) != nil
        }
        #expect(isRefused, "seed \(seed), moment \(moment): nothing was refused")
        usleep(UInt32(random.next() % 20000))
      }
      if end != .killedMeanwhile, let file = fault.file {
        try FileManager.default.removeItem(atPath: scratch[file])
        usleep(UInt32(random.next() % 20000))
      }
      if end == .byItself {
        try scratch.write([], "end")
        let (status, output) = run.finish()
        #expect(status == 0, "seed \(seed), moment \(moment): \(output)")
        try FileManager.default.removeItem(atPath: scratch["end"])
      } else {
        run.kill()
      }
      if end == .killedMeanwhile, let file = fault.file {
        try FileManager.default.removeItem(atPath: scratch[file])
      }
      if fault == .powerCut { try cutPower(scratch, before) }
      let life = try life(scratch)
      #expect(end != .byItself || life.isClosed)
      lives.append(life)
    }
    let store = try Store(
      .file(scratch["disk/h"]), limits: .init(maximumAge: .max, maximumBytes: 1 << 40))
    #expect(store.warnings.isEmpty)
    store.flush()
    let reader = try #require(try store.reader())
    var stored: [Int64: Int64] = [:]
    try reader.forEachEntry { entry in
      let text = String(decoding: entry.payload, as: UTF8.self)
      let token = Int64(text.prefix { $0 != " " }) ?? 0
      #expect(stored.updateValue(entry.id, forKey: token) == nil, "\(token) is there twice")
    }
    var tokens: [String: Int64] = [:]
    var highest: Int64 = 0
    var generation = ""
    for (index, life) in lives.enumerated() {
      let place = "seed \(seed), moment \(index + 1)"
      if life.generation != generation { (generation, highest) = (life.generation, 0) }
      for (token, id) in life.given {
        let text = "\(generation)-\(id)"
        #expect(tokens.updateValue(token, forKey: text) == nil, "\(place): \(id) was given twice")
        #expect(id > highest, "\(place): \(id) after \(highest)")
        highest = max(highest, id)
        #expect(stored[token] ?? id == id, "\(place): \(token) has another identifier")
      }
      let gone = life.given.drop { stored[$0.token] != nil }
      #expect(
        gone.allSatisfy { stored[$0.token] == nil }, "\(place): one is missing amid others")
      missing += gone.count
      if [.powerCut, .full].contains(fault), generation == store.generation {
        let isStated = gone.allSatisfy { store.firstGap(after: $0.id - 1) == $0.id }
        #expect(isStated, "\(place): what is missing is no gap")
      }
      if fault != .powerCut {
        #expect(
          gone.allSatisfy { life.fromMemory.contains($0.id) },
          "\(place): one is missing that survives the process")
        #expect(gone.isEmpty || !life.isClosed, "\(place): one is missing after a clean end")
      }
    }
    print(
      "\(fault): \(moments) moments, \(tokens.count) entries given, "
        + "\(lives.reduce(0) { $0 + $1.fromMemory.count }) of them from memory, \(missing) missing")
    #expect(tokens.count > moments)
    #expect(fault != .kill || missing == 0)
  }

  /// A file as it is before a run.
  private struct File {
    var inode: String
    var bytes: [UInt8]
  }

  /// The files of the disk, by name.
  private func files(_ scratch: Scratch) throws -> [String: File] {
    var files: [String: File] = [:]
    let folder = scratch["disk"]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      let inode = (attributes[.systemFileNumber] as? NSNumber)?.stringValue ?? ""
      files[name] = File(inode: inode, bytes: try scratch.bytes("disk/\(name)"))
    }
    return files
  }

  /// Leaves of the disk what it had before a run, and what syncs made durable since.
  private func cutPower(_ scratch: Scratch, _ before: [String: File]) throws {
    var inodes = before.mapValues(\.inode)
    if let names = try? scratch.bytes("copy/names") {
      let pairs = String(decoding: names, as: UTF8.self).split(separator: "\n").map { line in
        line.split(separator: " ").map(String.init)
      }
      inodes = Dictionary(uniqueKeysWithValues: pairs.map { ($0[1], $0[0]) })
    }
    var files: [String: [UInt8]] = [:]
    for (name, inode) in inodes {
      // A file that has a name and was not synced has no bytes.
      files[name] =
        (try? scratch.bytes("copy/\(inode)")) ?? before.values.first { $0.inode == inode }?.bytes
        ?? []
    }
    for folder in ["disk", "copy"] { try FileManager.default.removeItem(atPath: scratch[folder]) }
    try scratch.makeFolder("disk")
    for (name, bytes) in files { try scratch.write(bytes, "disk/\(name)") }
  }

  private func life(_ scratch: Scratch) throws -> Life {
    var life = Life()
    for line in try scratch.bytes("log").split(separator: UInt8(ascii: "\n")) {
      // A line that a kill cut off lacks its beginning, or its end.
      let rest = line.suffix(from: line.lastIndex(of: 0).map { $0 + 1 } ?? line.startIndex)
      guard rest.first == UInt8(ascii: "#") else { continue }
      let words = String(decoding: rest.dropFirst(), as: UTF8.self).split(separator: " ")
        .map(String.init)
      let numbers = words.dropFirst().compactMap { Int64($0) }
      if words.first == "X" { life.isClosed = true }
      if words.first == "S" { life.generation = words[1] }
      guard ["A", "M"].contains(words.first) else { continue }
      for index in stride(from: 1, to: numbers.count, by: 2) {
        life.given.append((numbers[index - 1], numbers[index]))
        if words.first == "M" { life.fromMemory.insert(numbers[index]) }
      }
    }
    return life
  }
}
