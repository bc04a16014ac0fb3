import CaptureFiles
import Scanning
import TestSupport
import Testing

/// Recordings in several files.
@Suite(.blocking) struct RotationTests {
  /// Records beacons of rising minors, one every so many seconds.
  @discardableResult
  private func record(
    _ minors: Range<UInt16>, every seconds: Double = 1, in folder: RecordingFolder,
    configure: (inout RecordingConfiguration) -> Void
  ) throws -> RecordingStatus {
    var configuration = RecordingConfiguration(path: folder["site.btsnoop"], format: .btsnoop)
    configure(&configuration)
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    for minor in minors { recorder.record(minor, at: .recorded(Double(minor) * seconds)) }
    return recorder.finish()
  }

  /// No file is larger than asked for, none could have had one more, and nothing is lost between them.
  @Test(arguments: CaptureWriter.Format.allCases, [1, 200, 1000, 4096, 100_000])
  func bySize(format: CaptureWriter.Format, most: Int) throws {
    let folder = try RecordingFolder()
    let status = try record(0..<150, in: folder) { configuration in
      configuration.format = format
      configuration.maximumBytes = most
    }
    #expect(status.packets == 150 && status.files == folder.names.count)
    #expect(try folder.minors() == Array(0..<150))
    let sizes = try folder.names.map { try folder.bytes($0).count }
    #expect(sizes.reduce(0, +) == status.bytes)
    // The longest packet, with what a new adapter needs.
    let slack = 36 + 48 + 64
    for (name, size) in zip(folder.names, sizes) {
      let packets = try Reading(path: folder[name]).minors.count
      #expect(size <= most || packets == 1, "\(name)")
      if name != folder.names.last { #expect(packets >= 1 && size > most - slack, "\(name)") }
    }
  }

  @Test func byTime() throws {
    let folder = try RecordingFolder()
    try record(0..<100, in: folder) { $0.longestTime = 10_000_000_000 }
    #expect(folder.names.count == 10)
    #expect(folder.names.first == "site-000001-20261121T053000Z.btsnoop")
    #expect(folder.names.last == "site-000010-20261121T053130Z.btsnoop")
    #expect(
      try folder.names.map { try Reading(path: folder[$0]).minors.count }
        == Array(repeating: 10, count: 10))
    #expect(try folder.minors() == Array(0..<100))
  }

  /// A clock that is set back begins no file, and a file lasts no longer than asked for by it.
  @Test func aClockThatIsSetBack() throws {
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    configuration.longestTime = 10_000_000_000
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    let seconds: [Double] = [0, 1, -5000, -4995, -4990, -4985, 0]
    for (minor, second) in seconds.enumerated() {
      recorder.record(UInt16(minor), at: .recorded(second))
    }
    recorder.finish()
    #expect(
      try folder.names.map { try Reading(path: folder[$0]).minors } == [
        [0, 1, 2, 3], [4, 5], [6],
      ])
    #expect(try folder.minors() == Array(0..<7))
  }

  /// Only so many files stay, also of earlier runs, and what is not a recording's is left alone.
  @Test func onlySoManyStay() throws {
    let folder = try RecordingFolder()
    let others = [
      "other-000001-20261121T053000Z.btsnoop", "site-000001-20261121T053000Z.pcapng",
      "site-1-20261121T053000Z.btsnoop", "site-00000a-20261121T053000Z.btsnoop",
      "site-000001-20261121T053000.btsnoop", "site-old.btsnoop", "site.btsnoop",
      "site--000001-20261121T053000Z.btsnoop", "site-000001-20261121T053000Z-1.btsnoop",
    ]
    for name in others { try folder.write([1], name) }
    func mine() -> [String] { folder.names.filter { !others.contains($0) } }
    for run in 0..<3 as Range<UInt16> {
      let minors = (run * 100)..<(run * 100 + 100)
      let status = try record(minors, in: folder) { configuration in
        configuration.maximumBytes = 1000
        configuration.maximumFiles = 4
      }
      #expect(status.packets == 100)
      #expect(mine().count == 4)
      let heard = try mine().flatMap { try Reading(path: folder[$0]).minors }
      #expect(heard == Array((minors.upperBound - UInt16(heard.count))..<minors.upperBound))
      #expect(try mine().reduce(0) { try $0 + folder.bytes($1).count } <= 4000)
    }
    // 1000 bytes hold 14 packets; each run begins a new file.
    #expect(mine().last?.hasPrefix("site-000024-") == true)
    for name in others { #expect(try folder.bytes(name) == [1]) }
  }

  /// The number orders them where the clock was wrong, and goes on from the highest.
  @Test func numbersGoOn() throws {
    let folder = try RecordingFolder()
    try folder.write([], "site-1000041-20301121T053000Z.btsnoop")
    try folder.write([], "site-000007-20311121T053000Z.btsnoop")
    try record(0..<1, in: folder) { configuration in
      configuration.maximumBytes = 1000
      configuration.maximumFiles = 2
    }
    #expect(
      folder.names
        == ["site-1000041-20301121T053000Z.btsnoop", "site-1000042-20261121T053000Z.btsnoop"])
  }

  @Test(arguments: [("a", "a-000001-20261121T053000Z"), ("a.b.c", "a.b-000001-20261121T053000Z.c")])
  func endings(name: String, first: String) throws {
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder[name], format: .btsnoop)
    configuration.maximumBytes = 1000
    configuration.maximumFiles = 1
    for _ in 0..<2 { try CaptureRecorder(configuration, startingAt: .recorded()).finish() }
    #expect(folder.names == [first.replacing("000001", with: "000002")])
  }

  /// Each file of several adapters says for itself which they are.
  @Test(arguments: [CaptureWriter.Format.btmon, .pcapng], 1...5 as ClosedRange<UInt64>)
  func severalAdapters(format: CaptureWriter.Format, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder["a"], format: format)
    configuration.maximumBytes = 700
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    var adapters: [UInt16] = []
    for minor in 0..<200 as Range<UInt16> {
      adapters.append(UInt16(random.next() % 5))
      recorder.record(minor, at: .recorded(), adapter: adapters[Int(minor)])
    }
    recorder.finish()
    #expect(folder.names.count > 10)
    let read = try folder.names.flatMap { try Reading(path: folder[$0]).sightings.map(\.adapter) }
    #expect(read == adapters, "seed \(seed)")
    for name in folder.names { #expect(try folder.bytes(name).count <= 700) }
  }
}
