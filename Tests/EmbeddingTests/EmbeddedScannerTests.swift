import BeaconTesting
import Dispatch
import Foundation
import Positioning
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

  private static let track = recording.replacing(".btsnoop", with: ".gpx")

  /// A scanner with several values of some options.
  private static func scanner(_ set: [(String, String)]) throws -> EmbeddedScanner {
    var options = EmbeddingOptions()
    for (name, value) in set { try options.set(name, to: value) }
    return try EmbeddedScanner(options)
  }

  @Test func aTrackHasCirclesFixesAndVisits() throws {
    let circle = ("region", "stop=52.5163,13.3777,200")
    let scanner = try Self.scanner([circle, ("replay", Self.track)])
    let events = Self.lines(of: scanner)
    #expect(events.map(Self.type) == ["state", "enter", "exit", "trackSummary", "end"])
    scanner.stop()
    let other = try Self.scanner([
      circle, ("locate", "true"), ("visits", "true"), ("heading", "true"), ("replay", Self.track),
    ])
    let all = Self.lines(of: other)
    #expect(all.filter { Self.type(of: $0) == "fix" }.count == 65)
    let crossings = all.filter { ["state", "enter", "exit"].contains(Self.type(of: $0)) }
    #expect(crossings == Array(events.prefix(3)))
    #expect(all.suffix(2) == events.suffix(2))
    other.stop()
    // Without a compass, headings alone end with the track.
    let heading = try Self.scanner([("heading", "true"), ("replay", Self.track)])
    #expect(Self.lines(of: heading).map(Self.type) == ["trackSummary", "end"])
    heading.stop()
  }

  @Test func aCaptureAndATrackAreMergedByTime() throws {
    let set = [
      ("region", "stop=52.5163,13.3777,200"), ("region", "kiosk=\(Self.visitor)"),
      ("replay", Self.track), ("replay", Self.recording),
    ]
    let scanner = try Self.scanner(set)
    let types = Self.lines(of: scanner).compactMap(Self.type)
    #expect(types.prefix(6).sorted() == ["enter", "enter", "exit", "exit", "state", "state"])
    #expect(types.suffix(3) == ["trackSummary", "summary", "end"])
    scanner.stop()
    for (missing, sentence) in [
      (2, "a recording for the circle 'stop' is missing"), (3, "beacons"),
    ] {
      var set = set
      set.remove(at: missing)
      let error = #expect(throws: EmbeddingError.self) { try Self.scanner(set) }
      #expect(error?.description.contains(sentence) == true, "\(String(describing: error))")
    }
  }

  /// A source of fixes that come at once, and of nothing after them.
  private final class LiveTrack: LocationSource {
    let name = "the script"
    let isRecorded = false
    let availability = ScannerAvailability.available
    private let left: Mutex<[PositionInput]>

    init(_ fixes: [PositionInput]) { left = Mutex(fixes) }

    func receive(
      for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
    ) throws -> LocationProgress {
      inputs = left.withLock { left in
        defer { left = [] }
        return left
      }
      if inputs.isEmpty { usleep(2000) }
      let now = MonotonicTime.now
      return LocationProgress(
        reached: now, wallClockOffset: WallClockOffset(from: now, to: .now),
        health: inputs.isEmpty
          ? [] : [LocationHealth(.receiving, at: now, sentence: "it receives")])
    }

    func wake() {}
    func rest() {}
  }

  /// A machine that stands in a circle.
  private static func standing() throws -> LiveTrack {
    let place = try #require(Coordinate(latitude: 52.5163, longitude: 13.3777))
    let now = MonotonicTime.now
    return LiveTrack(
      (0..<20).map { second in
        let age = Int64(second - 20) * MonotonicTime.nanosecondsPerSecond
        return .fix(
          Fix(
            time: now.advanced(by: age), timestamp: WallClockTime.now.advanced(by: age),
            place: place, horizontalAccuracy: 5))
      })
  }

  /// The crossing of a circle that was not dealt with comes again, and only then.
  @Test func withAStateFileACrossingIsDeliveredAgainUntilItWasDealtWith() throws {
    let scratch = try Scratch()
    func scanner(_ source: LiveTrack) throws -> EmbeddedScanner {
      try EmbeddedScanner(
        Self.options([
          "region": "stop=52.5163,13.3777,200", "state-file": scratch["state"],
          "application": "test",
        ]), EmbeddedSources(locations: source))
    }
    let first = try scanner(Self.standing())
    #expect(Self.lines(of: first, to: "state").last.flatMap(Self.type) == "state")
    #expect(Self.isReadable(first.descriptor, within: 300_000))
    // Nobody takes the entry.
    first.stop()

    let second = try scanner(LiveTrack([]))
    #expect(Self.lines(of: second, to: "enter").last.flatMap(Self.type) == "enter")
    second.stop()

    let third = try scanner(Self.standing())
    let states = Self.lines(of: third, to: "state")
    #expect(
      states.last.map { String(decoding: $0, as: UTF8.self) }?.contains(#""state":"inside""#)
        == true)
    third.stop()
  }

  @Test func aDamagedRecordingEndsWithTheReason() throws {
    let scratch = try Scratch()
    try scratch.write(Array("no recording at all, whatever its name".utf8), "x.btsnoop")
    let scanner = try Self.scanner(["range": "true", "replay": scratch["x.btsnoop"]])
    let lines = Self.lines(of: scanner)
    #expect(lines.count == 1)
    let text = String(decoding: try #require(lines.first), as: UTF8.self)
    let file = scratch["x.btsnoop"]
    #expect(text.hasPrefix(#"{"type":"end","error":"\#(file): this is not a btsnoop"#), "\(text)")
    scanner.stop()
    let track = try Self.scanner(["locate": "true", "replay": Self.recording])
    let end = try #require(Self.lines(of: track).last)
    let reason = #"{"type":"end","error":"\#(Self.recording): this is a capture"#
    #expect(String(decoding: end, as: UTF8.self).hasPrefix(reason))
    track.stop()
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
        ]), EmbeddedSources(scanner: script))
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
        Self.options(["region": "kiosk=\(Self.visitor)"]), EmbeddedSources(scanner: script),
        limit: limit)
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
