import Advertising
import BeaconTesting
import CaptureFiles
import Dispatch
import FoundationEssentials
import Scanning
import Synchronization
import Testing

@Suite struct ScannerContractTests {
  static let captures = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "captures")
  static let beacon = BeaconFrame(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4)

  @Test(arguments: ["visitor.btsnoop", "edge.btsnoop", "hostile.pcapng", "vm/ext5.monitor.pcap"])
  func recordingsKeepTheContract(name: String) throws {
    try ScannerContract.check {
      try ReplayScanner(paths: [Self.captures.appending(path: name).path])
    }
  }

  @Test func pacedAndMergedRecordingsKeepTheContract() throws {
    let paths = ["visitor.btsnoop", "lobby.btsnoop"].map { Self.captures.appending(path: $0).path }
    // Four million seconds lie between the two.
    try ScannerContract.check(calls: 400) { try ReplayScanner(paths: paths, speed: .times(500)) }
    try ScannerContract.check {
      try ReplayScanner(paths: [paths[0]], speed: .times(1000), duration: 30_000_000_000)
    }
  }

  @Test func scriptsKeepTheContract() throws {
    try ScannerContract.check {
      let scanner = ScriptedScanner()
      scanner.add(Self.beacon, rssi: -60, every: 0.1, from: 0, to: 10)
      scanner.finish(at: 10)
      scanner.clock.advance(by: 20)
      return scanner
    }
  }

  @Test func scriptsOfHealthKeepTheContract() throws {
    try ScannerContract.check {
      let scanner = ScriptedScanner()
      scanner.report(.scanning, at: 0)
      scanner.add(Self.beacon, rssi: -60, every: 0.1, from: 0, to: 4.95)
      scanner.report(.quiet, at: 0, noticed: 0.05, adapter: 1)
      scanner.add(Self.beacon, rssi: -80, every: 0.1, from: 1, to: 3, adapter: 1)
      scanner.report(.removed, at: 3, adapter: 1, isReceptionLost: false)
      // Noticed late, and told so.
      scanner.report(.notAnswering, at: 4.95, noticed: 6)
      scanner.report(.scanning, at: 8)
      scanner.add(Self.beacon, rssi: -60, every: 0.1, from: 8, to: 10)
      scanner.finish(at: 10)
      scanner.clock.advance(by: 20)
      return scanner
    }
  }

  /// A contract that nothing can break is none.
  @Test(arguments: BrokenScanner.Fault.allCases)
  func brokenScannersAreFound(fault: BrokenScanner.Fault) {
    #expect(throws: ScannerContract.Violation.self) {
      try ScannerContract.check(calls: 20) { BrokenScanner(fault) }
    }
  }
}

/// Breaks one promise.
final class BrokenScanner: Scanning.Scanner {
  enum Fault: CaseIterable {
    case disorder, timeGoesBack, hearsTheFuture, sightingsWithoutTime, unavailable, nameless, slow
    case neverBegins, differs
    case foreseesHealth, repeatsHealth, healthGoesBack, hearsWhileDeaf, faultWithoutSentence
  }

  private let fault: Fault
  private let calls = Mutex(0)
  private static let made = Mutex(0)
  private let number: Int

  init(_ fault: Fault) {
    self.fault = fault
    number = Self.made.withLock { made in
      made += 1
      return made
    }
  }

  var name: String { fault == .nameless ? "" : "broken" }
  var isRecorded: Bool { true }
  var counts: ScanCounts { ScanCounts() }
  var availability: ScannerAvailability {
    fault == .unavailable ? .unavailable("it is broken") : .available
  }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  )
    throws -> ScanProgress
  {
    let call = calls.withLock { calls in
      calls += 1
      return calls
    }
    let time = { (seconds: Int) in MonotonicTime(nanoseconds: Int64(seconds) * 1_000_000_000) }
    let hear = { (seconds: Int) in
      ScannerContractTests.beacon.sighting(at: time(seconds), rssi: -60)
    }
    let health = { (seconds: Int, isReceptionLost: Bool, sentence: String) in
      ScannerHealth(
        .down, at: time(seconds), adapter: "hci0", isReceptionLost: isReceptionLost,
        sentence: sentence)
    }
    sightings = [hear(call), hear(call)]
    var progress = ScanProgress(began: time(0), reached: time(call), isOver: call == 5)
    switch fault {
    case .disorder: sightings = [hear(call), hear(call - 1)]
    case .timeGoesBack: if call == 3 { progress.reached = time(1) }
    case .hearsTheFuture: sightings.append(hear(call + 1))
    case .sightingsWithoutTime: progress.reached = nil
    case .slow: _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1.2)
    case .neverBegins:
      progress = ScanProgress(isOver: call == 5)
      sightings = []
    case .differs: if number.isMultiple(of: 2) { sightings.removeLast() }
    case .foreseesHealth: progress.health = [health(call + 1, false, "down")]
    case .repeatsHealth: progress.health = [health(call, false, "down")]
    case .healthGoesBack:
      progress.health = [
        health(call, false, "down"),
        ScannerHealth(
          .blocked, at: time(call - 1), adapter: "hci0", isReceptionLost: false, sentence: "blocked"
        ),
      ]
    case .hearsWhileDeaf: if call == 2 { progress.health = [health(1, true, "down")] }
    case .faultWithoutSentence: if call == 2 { progress.health = [health(2, false, "")] }
    case .unavailable, .nameless: break
    }
    return progress
  }

  func rest() {}
}
