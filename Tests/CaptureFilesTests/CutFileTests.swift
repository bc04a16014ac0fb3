import Advertising
import CaptureFiles
import Scanning
import TestSupport
import Testing

/// Files that end too soon, or are none.
@Suite struct CutFileTests {
  /// A small file of a format, and where a cut leaves it whole.
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var parts: [[UInt8]]
    var testDescription: String { name }
    var bytes: [UInt8] { parts.flatMap(\.self) }
    /// Offsets between two parts: there the file is simply a shorter one.
    var seams: [Int] { parts.indices.map { parts[...$0].map(\.count).reduce(0, +) } }
  }

  private static var samples: [Sample] {
    let pcap = PcapFile(order: .big, isNano: true)
    let pcapng = PcapngFile()
    let bigPcapng = PcapngFile(order: .big)
    return [
      Sample(
        name: "btsnoop",
        parts: [BTSnoopFile.header()]
          + (1...3).map { BTSnoopFile.record(Adverts.h4($0), microseconds: Int64($0)) }),
      Sample(
        name: "pcap", parts: [pcap.header] + (1...3).map { pcap.record(Adverts.h4($0)) }),
      Sample(
        name: "pcapng",
        parts: [
          pcapng.section, pcapng.interface(resolution: 9), pcapng.packet(Adverts.h4(1), ticks: 1),
          pcapng.block(5, [1, 2, 3, 4]), pcapng.obsoletePacket(Adverts.h4(2), ticks: 2),
          bigPcapng.section, bigPcapng.interface(201),
          bigPcapng.packet(Adverts.h4WithDirection(3), ticks: 3),
          bigPcapng.simplePacket(Adverts.h4WithDirection(4)),
        ]),
    ]
  }

  /// Every cut at every byte: what stood whole before it is given, and the error says where.
  @Test(arguments: samples)
  func everyCut(sample: Sample) throws {
    let bytes = sample.bytes
    let whole = try Reading(bytes)
    #expect(whole.error == nil && whole.sightings.count >= 3)
    let file = try TemporaryFile()
    for cut in 1..<bytes.count {
      try file.write(Array(bytes.prefix(cut)))
      let reading = try Reading(path: file.path)
      #expect(whole.sightings.starts(with: reading.sightings), "cut at \(cut)")
      let isSeam = sample.seams.contains(cut)
      if isSeam {
        #expect(reading.error == nil, "cut at \(cut)")
        continue
      }
      let start = sample.seams.last { $0 < cut } ?? 0
      let error = try #require(reading.error, "cut at \(cut)")
      guard case .cutShort(let what, let needed, let available) = error.problem else {
        Issue.record("cut at \(cut): \(error)")
        continue
      }
      // Of a block that is passed over, what is there is gone by then.
      let isPassedOver = what == "rest of a block"
      #expect(error.offset == (isPassedOver ? cut : start), "cut at \(cut)")
      #expect(available == (isPassedOver ? 0 : cut - start), "cut at \(cut): \(error)")
      #expect(needed > available, "cut at \(cut): \(error)")
    }
  }

  /// The offset and the sentence of one cut, in full.
  @Test func theSentence() throws {
    let bytes = joined(BTSnoopFile.header(), BTSnoopFile.record(Adverts.h4(1)))
    let error = try #require(try Reading(Array(bytes.dropLast())).error)
    #expect(error.problem == .cutShort("record", needed: 69, available: 68))
    #expect(
      error.description
        == "\(error.file): byte 16: the record needs 69 bytes and only 68 follow; the recording was "
        + "cut short, what stood before is given")
  }

  /// A block that is passed over and longer than the buffer, cut in its middle.
  @Test(arguments: [700_000, 1_999_999])
  func insideALongBlock(cut: Int) throws {
    let file = PcapngFile()
    let front = joined(file.section, file.interface(), file.packet(Adverts.h4(1)))
    let block = file.block(0xBAD, [UInt8](repeating: 0, count: 2_000_000))
    let reading = try Reading(front + block.prefix(cut))
    #expect(reading.minors == [1])
    #expect(
      reading.error?.problem
        == .cutShort("rest of a block", needed: block.count - cut, available: 0))
    #expect(reading.error?.offset == front.count + cut)
  }

  @Test func nothingAtAll() throws {
    #expect(try Reading([]).error?.problem == .empty)
  }

  @Test(
    arguments: [
      [0x00], [0x1F], [0x62, 0x00], Array("btsnoop\u{1}".utf8), Array("hello, world".utf8),
      [0x0A, 0x0D, 0x0D, 0x0B, 0, 0, 0, 0], [0xA1, 0xB2, 0xCD, 0x34, 0, 0, 0, 0],
      [UInt8](repeating: 0, count: 1_000_000),
    ] as [[UInt8]])
  func notACapture(bytes: [UInt8]) throws {
    let error = try #require(try Reading(bytes).error)
    #expect(error.problem == .notACapture)
    #expect(error.description.hasSuffix("give one that is"))
  }

  @Test func filesThatCannotBeRead() throws {
    #expect(throws: CaptureError.self) { try CaptureReader(path: "/nonexistent/capture") }
    let directory = try Reading(path: "/")
    guard case .cannotRead? = directory.error?.problem else {
      Issue.record("\(String(describing: directory.error))")
      return
    }
  }

  /// Random damage: whatever is read before the error is a prefix, and nothing traps.
  @Test(arguments: samples, 1...10 as ClosedRange<UInt64>)
  func randomDamage(sample: Sample, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let whole = try Reading(sample.bytes)
    let file = try TemporaryFile()
    for _ in 0..<50 {
      var bytes = sample.bytes
      let place = Int.random(in: bytes.indices, using: &random)
      bytes[place] ^= UInt8(random.next() % 255) + 1
      try file.write(bytes)
      let reading = try Reading(path: file.path)
      #expect(reading.sightings.count <= whole.sightings.count, "seed \(seed), byte \(place)")
      if let offset = reading.error?.offset {
        #expect(offset <= bytes.count, "seed \(seed), byte \(place)")
      }
    }
  }
}
