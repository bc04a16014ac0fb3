import Advertising
import CaptureFiles
import Foundation
import Scanning
import Synchronization
import TestSupport
import Testing

/// What is recorded is read back.
@Suite(.blocking) struct CaptureRecorderTests {
  @Test(arguments: CaptureWriter.Format.allCases)
  func roundTripOfOneAdapter(format: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    let configuration = RecordingConfiguration(path: folder["a"], format: format)
    let remarks = Remarks()
    let recorder = try CaptureRecorder(
      configuration, startingAt: .recorded(), remark: remarks.take)
    for minor in 0..<1000 as Range<UInt16> {
      recorder.record(minor, at: .recorded(Double(minor) / 1000))
    }
    let status = recorder.finish()
    #expect(folder.names == ["a"])
    #expect(status.packets == 1000 && status.lost == 0 && status.files == 1)
    #expect(status.file == folder["a"] && status.failure == nil && remarks.all.isEmpty)
    #expect(try status.bytes == folder.bytes("a").count)
    let reading = try Reading(path: folder["a"])
    #expect(reading.error == nil && reading.minors == Array(0..<1000))
    let times = (0..<1000).map { index in
      let time = WallClockTime.recorded(Double(index) / 1000).nanoseconds
      return format == .pcapng ? time : time / 1000 * 1000
    }
    #expect(reading.wallTimes == times)
  }

  /// Several adapters, each packet with its own; one that comes late, and one of a high number.
  @Test(arguments: [CaptureWriter.Format.btmon, .pcapng])
  func roundTripOfSeveralAdapters(format: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    let recorder = try CaptureRecorder(
      RecordingConfiguration(path: folder["a"], format: format), startingAt: .recorded())
    let adapters = (0..<100).map { $0 < 50 ? UInt16($0 % 2) : [1, 0, 7, 65535][$0 % 4] }
    for (index, adapter) in adapters.enumerated() {
      recorder.record(UInt16(index), at: .recorded(Double(index)), adapter: adapter)
    }
    recorder.finish()
    let reading = try Reading(path: folder["a"])
    #expect(reading.error == nil && reading.minors == Array(0..<100))
    #expect(reading.sightings.map(\.adapter) == adapters)
  }

  /// Every kind of packet, there and back through each format and by the tap of the reader.
  @Test(arguments: CaptureWriter.Format.allCases, CaptureWriter.Format.allCases)
  func everyKindOfPacket(format: CaptureWriter.Format, second: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    let packets: [(bytes: [UInt8], isReceived: Bool)] = [
      ([0x01, 0x0C, 0x20, 0x02, 0x01, 0x00], false), (Adverts.h4(1), true),
      ([0x02, 1, 2, 3], true), ([0x02, 1, 2, 3, 4], false), ([0x03, 9], true), ([0x03, 8], false),
      ([0x05, 9], true), ([0x05, 8], false), (Adverts.h4(2), true),
    ]
    let first = try CaptureRecorder(
      RecordingConfiguration(path: folder["a"], format: format), startingAt: .recorded())
    for packet in packets {
      unsafe first.record(
        packet.bytes.span.bytes, at: .recorded(), isReceived: packet.isReceived)
    }
    #expect(first.finish().packets == packets.count)
    let again = try CaptureRecorder(
      RecordingConfiguration(path: folder["b"], format: second), startingAt: .recorded())
    let heard = Heard()
    let reader = try CaptureReader(path: folder["a"]) { packet, time, isReceived, adapter in
      heard.append(packet, isReceived: isReceived)
      again.record(packet, at: time, isReceived: isReceived, adapter: adapter)
    }
    var collector = SightingCollector()
    while case .more = try reader.read(into: &collector) {}
    #expect(heard.packets == packets.map(\.bytes))
    #expect(heard.directions == packets.map(\.isReceived))
    #expect(again.finish().packets == packets.count)
    #expect(try Reading(path: folder["b"]).minors == [1, 2])
    if format == second, format != .pcapng {
      #expect(try folder.bytes("a") == folder.bytes("b"))
    }
  }

  @Test func noMoreThanAskedFor() throws {
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    configuration.maximumPackets = 10
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    for minor in 0..<9 as Range<UInt16> { recorder.record(minor, at: .recorded()) }
    #expect(!recorder.isFull)
    for minor in 9..<20 as Range<UInt16> { recorder.record(minor, at: .recorded()) }
    #expect(recorder.isFull)
    #expect(recorder.finish().packets == 10)
    recorder.record(99, at: .recorded())
    #expect(recorder.finish().packets == 10)
    #expect(try folder.minors() == Array(0..<10))
  }

  /// Nothing was heard: the file is a capture all the same.
  @Test(arguments: CaptureWriter.Format.allCases)
  func silence(format: CaptureWriter.Format) throws {
    let folder = try RecordingFolder()
    let recorder = try CaptureRecorder(
      RecordingConfiguration(path: folder["a"], format: format), startingAt: .recorded())
    // It is there before it is finished.
    #expect(try Reading(path: folder["a"]).error == nil)
    recorder.finish()
    let reading = try Reading(path: folder["a"])
    #expect(reading.error == nil && reading.counts.packets == 0)
  }

  /// Who lets go of a recorder has what was recorded.
  @Test func letGo() throws {
    let folder = try RecordingFolder()
    do {
      let recorder = try CaptureRecorder(
        RecordingConfiguration(path: folder["a"], format: .btsnoop), startingAt: .recorded())
      recorder.record(1, at: .recorded())
    }
    try eventually { try Reading(path: folder["a"]).minors == [1] }
    #expect(try folder.minors() == [1])
  }

  @Test func aFileThatIsThere() throws {
    let folder = try RecordingFolder()
    try folder.write([1, 2, 3], "a")
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    let error = #expect(throws: RecordingError.self) {
      try CaptureRecorder(configuration, startingAt: .recorded())
    }
    #expect(error?.problem == .exists)
    #expect(error?.description.contains("--force") == true)
    #expect(try folder.bytes("a") == [1, 2, 3])
    configuration.replacesFile = true
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    recorder.record(1, at: .recorded())
    recorder.finish()
    #expect(try folder.minors() == [1])
  }

  @Test(arguments: ["none/a", "", "file/a"])
  func aFileThatCannotBe(name: String) throws {
    let folder = try RecordingFolder()
    try folder.write([], "file")
    for bytes in [nil, 10_000] {
      var configuration = RecordingConfiguration(path: folder[name], format: .btsnoop)
      configuration.replacesFile = true
      configuration.maximumBytes = name.isEmpty ? nil : bytes
      #expect(throws: RecordingError.self) {
        try CaptureRecorder(configuration, startingAt: .recorded())
      }
    }
  }

  /// More than memory may hold, to a disk that is quick: a recording waits, and nothing is lost.
  @Test func moreThanMemoryHolds() throws {
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    configuration.waitsForDisk = true
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    let packet = [0x02] + [UInt8](repeating: 7, count: 60_000)
    for _ in 0..<300 { unsafe recorder.record(packet.span.bytes, at: .recorded()) }
    let status = recorder.finish()
    #expect(status.packets == 300 && status.lost == 0)
    #expect(try Reading(path: folder["a"]).counts.packets == 300)
  }

  /// Several callers wait for room at once: each of them goes on when there is some.
  @Test func severalCallersWait() throws {
    let folder = try RecordingFolder()
    var configuration = RecordingConfiguration(path: folder["a"], format: .btsnoop)
    configuration.waitsForDisk = true
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    let group = DispatchGroup()
    for _ in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        let packet = [0x02] + [UInt8](repeating: 7, count: 60_000)
        for _ in 0..<100 { unsafe recorder.record(packet.span.bytes, at: .recorded()) }
        group.leave()
      }
    }
    let isOver = eventually { group.wait(timeout: .now()) == .success }
    try #require(isOver, "a caller waits for ever")
    let status = recorder.finish()
    #expect(status.packets == 800 && status.lost == 0)
  }
}

/// Packets that a tap was handed.
private final class Heard: Sendable {
  private let all = Mutex<[(bytes: [UInt8], isReceived: Bool)]>([])

  func append(_ packet: RawSpan, isReceived: Bool) {
    let bytes = unsafe packet.withUnsafeBytes { unsafe Array($0) }
    all.withLock { $0.append((bytes, isReceived)) }
  }

  var packets: [[UInt8]] { all.withLock { $0.map(\.bytes) } }
  var directions: [Bool] { all.withLock { $0.map(\.isReceived) } }
}
