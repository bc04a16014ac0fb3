import BeaconTesting
import Dispatch
import Foundation
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import Embedding

/// A scanner in a program, from its start to its end.
@Suite(.blocking) struct EmbeddedScannerTests {
  private static let visitor = "\(OptionsTests.uuid):1:100"
  private static let recording = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "captures/visitor.btsnoop").path

  private static func options(_ set: [String: String]) throws -> EmbeddingOptions {
    var options = EmbeddingOptions()
    for (name, value) in set { try options.set(name, to: value) }
    return options
  }

  private static func scanner(_ set: [String: String]) throws -> EmbeddedScanner {
    try EmbeddedScanner(options(set))
  }

  private static func isReadable(_ descriptor: Int32, within milliseconds: Int32 = 0) -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&wait, 1, milliseconds) > 0
  }

  private static func type(of line: [UInt8]) -> String? {
    let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
    return object?["type"] as? String
  }

  /// Takes lines as a program does, up to one of a type.
  private static func lines(of scanner: EmbeddedScanner, to last: String = "end") -> [[UInt8]] {
    var lines: [[UInt8]] = []
    while lines.last.flatMap(type) != last {
      guard isReadable(scanner.descriptor, within: 300_000) else { return lines }
      guard let line = scanner.next() else { continue }
      lines.append(line)
    }
    return lines
  }

  @Test func aRecordingIsTheSameForEveryReader() throws {
    let set = ["region": "kiosk=\(Self.visitor)", "replay": Self.recording, "quiet": "true"]
    let polled = try Self.scanner(set)
    let lines = Self.lines(of: polled)
    #expect(lines.map(Self.type) == ["state", "enter", "exit", "summary", "end"])
    #expect(polled.next() == nil)
    #expect(!Self.isReadable(polled.descriptor))
    polled.stop()

    let called = try Self.scanner(set)
    let received = Mutex<[[UInt8]]>([])
    called.setConsumer { line in received.withLock { $0.append(line) } }
    #expect(eventually { received.withLock { $0.last.flatMap(Self.type) } == "end" })
    #expect(called.next() == nil)
    called.stop()
    #expect(received.withLock { $0 } == lines)
  }

  @Test func reportsOfEveryBeaconComeWithoutARegion() throws {
    let scanner = try Self.scanner(["range": "true", "replay": Self.recording, "duration": "10s"])
    let types = Self.lines(of: scanner).compactMap(Self.type)
    #expect(types.filter { $0 == "range" }.count >= 9)
    #expect(types.suffix(2) == ["summary", "end"])
    scanner.stop()
  }

  @Test func aDamagedRecordingEndsWithTheReason() throws {
    let scratch = try Scratch()
    try scratch.write(Array("no recording at all, whatever its name".utf8), "x.btsnoop")
    let scanner = try Self.scanner(["range": "true", "replay": scratch["x.btsnoop"]])
    let lines = Self.lines(of: scanner)
    #expect(lines.count == 1)
    let text = String(decoding: try #require(lines.first), as: UTF8.self)
    #expect(text.hasPrefix(#"{"type":"end","error":"#) && text.contains("x.btsnoop"), "\(text)")
    scanner.stop()
    let missing = #expect(throws: EmbeddingError.self) {
      try Self.scanner(["range": "true", "replay": scratch["y.btsnoop"]])
    }
    #expect(missing?.description.contains("there is no such file") == true)
  }

  /// An event that was taken, but not dealt with, comes again.
  @Test func withAStateFileAnEventIsDeliveredAgainUntilItWasDealtWith() throws {
    let scratch = try Scratch()
    func scanner(_ script: ScriptedScanner) throws -> EmbeddedScanner {
      try EmbeddedScanner(
        Self.options([
          "region": "kiosk=\(Self.visitor)", "state-file": scratch["state"], "application": "test",
        ]), scanner: script)
    }
    let script = ScriptedScanner(isRecorded: false)
    script.report(.scanning, at: 0)
    script.add(try Self.frame(), rssi: -60, at: 1)
    let first = try scanner(script)
    #expect(Self.lines(of: first, to: "state").map(Self.type) == ["health", "state"])
    script.clock.advance(by: 2)
    #expect(Self.isReadable(first.descriptor, within: 300_000))
    // Nobody takes the entry.
    first.stop()

    let second = try scanner(ScriptedScanner(isRecorded: false))
    #expect(Self.lines(of: second, to: "enter").last.map(Self.type) == "enter")
    second.stop()

    let quiet = ScriptedScanner(isRecorded: false)
    quiet.report(.scanning, at: 0)
    let third = try scanner(quiet)
    let states = Self.lines(of: third, to: "state")
    #expect(states.map(Self.type) == ["health", "state"])
    #expect(
      states.last.map { String(decoding: $0, as: UTF8.self) }?.contains(#""state":"inside""#)
        == true)
    third.stop()
  }

  @Test func theFunctionMayStopTheScanner() throws {
    let scanner = try Self.scanner([
      "region": "kiosk=\(Self.visitor)", "replay": Self.recording,
    ])
    let calls = Atomic<Int>(0)
    let isStopped = DispatchSemaphore(value: 0)
    scanner.setConsumer { _ in
      calls.add(1, ordering: .relaxed)
      scanner.stop()
      isStopped.signal()
    }
    isStopped.wait()
    // Nothing comes after that.
    scanner.setConsumer(nil)
    #expect(calls.load(ordering: .relaxed) == 1)
  }

  @Test func aScannerThatIsStoppedEarlyLeavesTheRecording() throws {
    for _ in 0..<20 {
      let scanner = try Self.scanner([
        "region": "kiosk=\(Self.visitor)", "replay": Self.recording, "speed": "1000x",
      ])
      _ = scanner.next()
      scanner.stop()
      #expect(scanner.next() == nil)
    }
  }

  /// Live, events that nobody takes are counted.
  @Test func beyondTheLimitEventsAreMissedAndCounted() throws {
    func lines(limit: Int) throws -> [[UInt8]] {
      let script = ScriptedScanner(isRecorded: false)
      script.report(.scanning, at: 0)
      for second in 1...40 {
        script.report(second % 2 == 0 ? .scanning : .quiet, at: Double(second))
      }
      script.finish(at: 41)
      let scanner = try EmbeddedScanner(
        Self.options(["region": "kiosk=\(Self.visitor)"]), scanner: script, limit: limit)
      script.clock.advance(by: 60)
      #expect(eventually { scanner.isOver })
      defer { scanner.stop() }
      return Self.lines(of: scanner)
    }
    let all = try lines(limit: 10_000)
    #expect(all.count > 40)
    let missed = Array(#"{"type":"missed","count":\#(all.count - 10)}"#.utf8)
    #expect(try lines(limit: 10).map(Self.type) == ([missed] + all.suffix(10)).map(Self.type))
    #expect(try lines(limit: 10).first == missed)
  }

  private static func frame() throws -> BeaconFrame {
    let constraint = try #require(BeaconConstraint(visitor))
    return BeaconFrame(
      uuid: constraint.uuid, major: try #require(constraint.major),
      minor: try #require(constraint.minor))
  }
}
