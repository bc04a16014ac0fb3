import RegionStorage
import Regions
import Scanning
import TestSupport
import Testing

/// Files that were cut, damaged, or made by others.
@Suite struct DamageTests {
  /// A small store with some of everything, and what it was after each call.
  struct Sample {
    let bytes: [UInt8]
    let told: [UInt8]
    /// Where each call ends, and what there was then.
    let states: [(end: Int, whole: Whole)]

    init() throws {
      let scratch = try Scratch()
      let store = try unsynced(scratch["s"])
      var states = [(try scratch.bytes("s").count, Whole(store))]
      func note() throws { states.append((try scratch.bytes("s").count, Whole(store))) }
      try store.setAuthorization("always")
      try note()
      try store.put([region("a", major: 1), region("b", owner: "m"), region("c")])
      try note()
      let events = try store.record([crossing(of: "a"), crossing(of: "b", owner: "m")])
      // Delivered before the state is noted, so that the file of marks fits it and all that follow.
      store.delivered(events[0].serial)
      try note()
      try store.remove(region("c").key)
      try note()
      _ = try store.record([crossing(.exit, of: "a", at: 2), crossing(of: "a", at: 3)])
      try note()
      (bytes, told) = (try scratch.bytes("s"), try scratch.bytes("s.told"))
      self.states = states
    }

    /// A store in a copy with other bytes.
    func open(_ bytes: [UInt8], told: [UInt8]? = nil, in scratch: Scratch) throws -> RegionStore {
      try scratch.write(bytes, "s")
      try scratch.write(told ?? self.told, "s.told")
      return try unsynced(scratch["s"])
    }
  }

  @Test func aFileThatIsCutAnywhereHasAllCallsBeforeTheCut() throws {
    let sample = try Sample()
    for end in sample.states[0].end..<sample.bytes.count {
      let scratch = try Scratch()
      let store = try sample.open(Array(sample.bytes.prefix(end)), in: scratch)
      let last = try #require(sample.states.last { $0.end <= end })
      #expect(Whole(store) == last.whole, "cut at \(end)")
      #expect(store.droppedBytes == end - last.end)
      #expect(try scratch.bytes("s").count == last.end)
      // What is written then stands where it should.
      guard end % 4 == 0 || end == last.end else { continue }
      try store.put(region("new"))
      let then = Whole(store)
      _ = consume store
      let again = try unsynced(scratch["s"])
      #expect(Whole(again) == then)
      #expect(again.droppedBytes == 0 && !again.remarks.contains { $0.contains("damaged") })
    }
  }

  /// A power failure can leave the end of an append on the disk and not its beginning.
  @Test func aLastCallWithAHoleIsDropped() throws {
    let sample = try Sample()
    let last = sample.states[sample.states.count - 2]
    for hole in 0..<(sample.bytes.count - last.end) {
      var bytes = sample.bytes
      for index in last.end...(last.end + hole) { bytes[index] = 0 }
      let scratch = try Scratch()
      let store = try sample.open(bytes, in: scratch)
      #expect(Whole(store) == last.whole, "a hole of \(hole + 1)")
      #expect(store.droppedBytes == bytes.count - last.end)
      #expect(scratch.names.count == 3)
    }
  }

  @Test(arguments: [0x01, 0x80] as [UInt8])
  func aDamagedByteIsNoticed(_ flip: UInt8) throws {
    let sample = try Sample()
    // What is not of the last call.
    let inner = sample.states[sample.states.count - 2].end
    for place in 0..<sample.bytes.count {
      var bytes = sample.bytes
      bytes[place] ^= flip
      let scratch = try Scratch()
      let store = try sample.open(bytes, in: scratch)
      if place < inner {
        #expect(store.remarks.count == 1, "byte \(place)")
        #expect(
          store.remarks.first?.contains("damaged") == true
            || store.remarks.first?.contains("newer") == true)
        #expect(try scratch.bytes("s.damaged-1") == bytes, "it is not deleted")
        // The regions of sound lines are kept; a call of which a line is damaged is not.
        #expect(store.regions.count <= 3)
        // The first call says nothing; with its end damaged, the second is not read either.
        if place < sample.states[0].end - 1 {
          #expect(Whole(store) == sample.states.last?.whole)
        }
      } else {
        #expect(Whole(store) == sample.states[sample.states.count - 2].whole)
        #expect(store.droppedBytes == bytes.count - inner)
      }
      guard place % 4 == 0 else { continue }
      try store.put(region("new"))
      let then = Whole(store)
      _ = consume store
      #expect(Whole(try unsynced(scratch["s"])) == then)
    }
  }

  @Test func aDamagedMarkIsNoticedAndTheRestCounts() throws {
    let sample = try Sample()
    let whole = try #require(sample.states.last?.whole)
    for place in sample.told.indices {
      var told = sample.told
      told[place] ^= 0x10
      let scratch = try Scratch()
      let store = try sample.open(sample.bytes, told: told, in: scratch)
      #expect(store.remarks.count == 1 && store.remarks[0].contains(".told.damaged-1"))
      // The journal itself says what was delivered before its last call.
      #expect(Whole(store) == whole, "byte \(place)")
    }
    for end in sample.told.indices {
      let scratch = try Scratch()
      let store = try sample.open(sample.bytes, told: Array(sample.told.prefix(end)), in: scratch)
      #expect(Whole(store) == whole, "cut at \(end)")
    }
  }

  @Test func aNewerVersionIsSetAside() throws {
    let sample = try Sample()
    let scratch = try Scratch()
    let header = #""format":"corelocation-regions","version":2}"#
    let sum = String(checksum(Array(header.utf8)), radix: 16)
    let line = #"{"sum":""# + String(repeating: "0", count: 8 - sum.count) + sum + #"","#
    let bytes = Array((line + header + "\nwhat only it knows\n").utf8)
    let store = try sample.open(bytes, in: scratch)
    #expect(store.regions.isEmpty)
    #expect(store.remarks.count == 1)
    #expect(store.remarks[0].contains("version 2"))
    #expect(store.remarks[0].contains("\(scratch["s"]).newer-1"))
    #expect(try scratch.bytes("s.newer-1") == bytes)
    try store.put(region("r"))
    _ = consume store
    #expect(try unsynced(scratch["s"]).regions.count == 1)
  }

  /// Bit by bit, by the definition.
  private func checksum(_ bytes: [UInt8]) -> UInt32 {
    var rest = UInt32.max
    for byte in bytes {
      for bit in 0..<8 {
        let isOdd = (rest ^ UInt32(byte) >> bit) & 1 == 1
        rest = rest >> 1 ^ (isOdd ? 0xEDB8_8320 : 0)
      }
    }
    return ~rest
  }

  @Test func removedAndRepeatedLinesAreNoticed() throws {
    let sample = try Sample()
    let lines = sample.bytes.split(separator: UInt8(ascii: "\n")).map { $0 + [UInt8(ascii: "\n")] }
    for index in lines.indices.dropLast() {
      for replacement in [[], [lines[index], lines[index]]] {
        var changed = lines
        changed.replaceSubrange(index...index, with: replacement)
        // A last call without its first line was cut off; one with it twice is damage.
        if index == lines.count - 2, replacement.isEmpty { continue }
        let scratch = try Scratch()
        let store = try sample.open(Array(changed.joined()), in: scratch)
        #expect(scratch.names.contains("s.damaged-1"), "line \(index + 1)")
        #expect(store.remarks.count == 1)
      }
    }
  }

  @Test(arguments: 0..<60)
  func anyBytesAreNoTrap(_ seed: UInt64) throws {
    print("seed \(seed)")
    let sample = try Sample()
    var random = SplitMix64(seed: seed)
    var bytes = sample.bytes
    var told = sample.told
    switch seed % 3 {
    case 0:
      bytes = random.bytes(Int(random.next() % 200_000))
      told = random.bytes(Int(random.next() % 2000))
    case 1:
      for _ in 0..<(1 + random.next() % 8) {
        let start = Int(random.next() % UInt64(bytes.count))
        let end = min(bytes.count, start + Int(random.next() % 64))
        bytes.replaceSubrange(start..<end, with: random.bytes(Int(random.next() % 64)))
      }
    default:
      bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: 200_000)
      told += random.bytes(40)
    }
    let scratch = try Scratch()
    let store = try sample.open(bytes, told: told, in: scratch)
    try store.put(region("new"))
    _ = try store.record([crossing(of: "new")])
    let then = Whole(store)
    _ = consume store
    #expect(Whole(try unsynced(scratch["s"])) == then)
  }

  /// Sound checksums, and what no store would write.
  @Test(arguments: [
    #""call":1,"issued":18446744073709551615}"#, #""call":18446744073709551615,"issued":1}"#,
    #""call":1,"issued":1,"delivered":18446744073709551615}"#, #""call":1}"#, #""call":0}"#,
    #""call":1,"part":0,"of":0,"issued":1}"#, #""call":1,"part":1,"of":-5,"issued":1}"#,
    #""call":1,"part":9223372036854775807,"of":9223372036854775807,"issued":1}"#,
    #""call":1,"put":{"id":"x","uuid":"no","onEntry":true,"onExit":true,"onDisplay":true,"state":"inside"}}"#,
    #""call":1,"change":{"id":"x","state":"lost","time":1}}"#,
    #""call":1,"event":{"serial":1,"change":"enter","time":1,"previous":"inside","rule":"count","samples":1}}"#,
  ])
  func soundLinesOfNonsenseAreDamage(_ body: String) throws {
    let scratch = try Scratch()
    let sample = try Sample()
    let sum = String(checksum(Array(body.utf8)), radix: 16)
    let line = #"{"sum":""# + String(repeating: "0", count: 8 - sum.count) + sum + #"","# + body
    let header = sample.bytes.prefix { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")]
    let store = try sample.open(header + Array((line + "\n").utf8), told: [], in: scratch)
    #expect(scratch.names.contains("s.damaged-1"), "\(store.remarks)")
    try store.put(region("r"))
    #expect(try store.record([crossing()]).count == 1)
  }

  @Test func filesSetAsideAreKeptUpToNinetyNine() throws {
    let scratch = try Scratch()
    for round in 0..<101 {
      try scratch.write(Array("round \(round)\n".utf8), "s")
      #expect(try unsynced(scratch["s"]).remarks.count == 1)
    }
    #expect(scratch.names.count { $0.contains("damaged") } == 99)
    #expect(try scratch.bytes("s.damaged-1") == Array("round 0\n".utf8))
    #expect(try scratch.bytes("s.damaged-99") == Array("round 100\n".utf8))
  }
}
