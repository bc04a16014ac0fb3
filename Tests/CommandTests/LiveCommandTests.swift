import Advertising
import BeaconTesting
import Foundation
import Scanning
import Testing

@testable import beaconscan

/// The command at a radio: health in its lines, on standard error, and as its last word.
@Suite struct LiveCommandTests {
  /// Ten seconds of which the fourth to the sixth are deaf; two adapters, one beacon.
  private func script(end: Double = 10) -> ScriptedScanner {
    let scanner = ScriptedScanner()
    scanner.report(.scanning, "hci0 scans", at: 0)
    scanner.add(LiveRun.frame(7), rssi: -60, every: 0.1, from: 0.05, to: 4)
    scanner.report(.removed, "hci0 is gone; plug it in", at: 4)
    scanner.report(.scanning, "hci0 scans again", at: 6.5)
    scanner.add(LiveRun.frame(7), rssi: -60, every: 0.1, from: 6.55, to: 10, adapter: 1)
    scanner.finish(at: end)
    scanner.clock.advance(by: 60)
    return scanner
  }

  private static let last =
    "beaconscan: hci0 (00:AA:01:00:00:00): scanning; 1 fault, reception lost for 2.5 s of 10.0 s"

  @Test func scanSaysWhichAdapterAndHowWell() async throws {
    let run = try await LiveRun(["scan", "--format", "json"], script())
    let lines = try run.json()
    let health = lines.filter { $0["type"] as? String == "health" }
    #expect(health.map { $0["state"] as? String } == ["scanning", "removed", "scanning"])
    #expect(health.map { $0["receptionLost"] as? Bool } == [false, true, false])
    #expect(health[1]["message"] as? String == "hci0 is gone; plug it in")
    #expect(health[1]["adapter"] as? String == "hci0")
    #expect(health[1]["address"] as? String == "00:AA:01:00:00:00")
    #expect(health[1]["time"] as? String == "2026-01-01T00:00:04.000000Z")
    let sightings = lines.filter { $0["type"] as? String == "sighting" }
    #expect(sightings.count == 75)
    #expect(sightings.first?["adapter"] as? String == "hci0")
    #expect(sightings.last?["adapter"] as? String == "hci1")
    // In the order of time.
    let times = lines.compactMap { $0["time"] as? String }
    #expect(times == times.sorted())
    #expect(run.said == [Self.last])
  }

  /// Tests/Checks/outputs.sh checks these very lines by the schema and by docs/json.md.
  @Test func itsLinesAreThoseThatAreChecked() async throws {
    let scanner = ScriptedScanner()
    scanner.report(.scanning, "hci0 scans", at: 0)
    scanner.report(.scanning, "hci1 scans", at: 0, adapter: 1)
    scanner.add(LiveRun.frame(7), rssi: -60, at: 1)
    scanner.add(LiveRun.frame(7), rssi: -81, at: 1.0004, adapter: 1)
    scanner.report(.removed, "hci1 is gone; plug it in", at: 2, adapter: 1, isReceptionLost: false)
    scanner.report(.removed, "hci0 is gone; plug it in", at: 4)
    scanner.report(
      .noBluetooth, "no Bluetooth in this kernel; run 'modprobe bluetooth'", at: 5, adapter: nil)
    scanner.finish(at: 6)
    scanner.clock.advance(by: 60)
    let file = Command.root.appending(path: "Tests/Outputs/live.jsonl")
    let output = try await LiveRun(["scan", "--format", "json"], scanner).output
    #expect(try output == String(contentsOf: file, encoding: .utf8))
  }

  @Test func everyConditionStandsInTheDocuments() throws {
    let page = try String(
      contentsOf: Command.root.appending(path: "docs/json.md"), encoding: .utf8)
    let schema = try String(
      contentsOf: Command.root.appending(path: "docs/json.schema.json"), encoding: .utf8)
    for condition in ScannerHealth.Condition.allCases {
      #expect(page.contains("`\(condition.rawValue)`"), "\(condition)")
      #expect(schema.contains("\"\(condition.rawValue)\""), "\(condition)")
    }
  }

  @Test func tablesHaveItOnStandardError() async throws {
    for format in ["table", "csv"] {
      let run = try await LiveRun(["scan", "--format", format], script())
      #expect(
        run.said == [
          "beaconscan: hci0 scans", "beaconscan: hci0 is gone; plug it in",
          "beaconscan: hci0 scans again", Self.last,
        ])
      #expect(run.output.split(separator: "\n").count == 76)
    }
    #expect(try await LiveRun(["scan", "--quiet"], script()).said == [])
  }

  @Test func rangeHasNoListsWhileDeaf() async throws {
    let run = try await LiveRun(["range", "--format", "json"], script())
    let kinds = try run.json().map { $0["type"] as? String }
    #expect(
      kinds == ["health"] + Array(repeating: "range", count: 4) + ["health", "health"]
        + Array(repeating: "range", count: 4) + ["summary"])
    let beacons = try run.json().compactMap { ($0["beacons"] as? [Any])?.count }
    #expect(beacons.prefix(8).allSatisfy { $0 == 1 })
    #expect(run.said == [Self.last])
    let table = try await LiveRun(["range"], script())
    #expect(table.said.count == 4 && table.said.last == Self.last)
  }

  @Test func monitorTellsNoExitWhileDeaf() async throws {
    let run = try await LiveRun(
      ["monitor", "--uuid", LiveRun.uuid, "--exit-after", "2", "--format", "json"],
      script(end: 20))
    let lines = try run.json()
    #expect(
      lines.map { $0["type"] as? String } == [
        "health", "state", "enter", "health", "health", "exit", "summary",
      ])
    #expect(lines[1]["time"] as? String == "2026-01-01T00:00:00.000000Z")
    #expect(lines[5]["time"] as? String == "2026-01-01T00:00:11.950000Z")
    #expect(run.said.last?.hasSuffix("reception lost for 2.5 s of 20.0 s") == true)
  }

  /// A run that received nothing at all because of its adapter is no success.
  @Test func aRunWithoutReceptionFails() async throws {
    let scanner = ScriptedScanner()
    scanner.report(.down, at: 0)
    scanner.clock.advance(by: 60)
    await #expect {
      _ = try await LiveRun(["scan", "--duration", "5"], scanner)
    } throws: { error in
      (error as? CommandError)?.status == .unavailable
        && (error as? CommandError)?.message.contains("beaconscan doctor") == true
    }
    let later = ScriptedScanner()
    later.report(.down, at: 0)
    later.report(.scanning, at: 4)
    later.clock.advance(by: 60)
    #expect(try await LiveRun(["scan", "--duration", "5"], later).said.count == 3)
  }

  @Test func durationIsOfTheScannersTime() async throws {
    let scanner = ScriptedScanner()
    scanner.report(.scanning, at: 0)
    scanner.add(LiveRun.frame(7), rssi: -60, every: 0.1, from: 0.05, to: 60)
    scanner.report(.down, at: 12)
    scanner.clock.advance(by: 60)
    let run = try await LiveRun(["scan", "--duration", "5", "--format", "json"], scanner)
    #expect(try run.json().count { $0["type"] as? String == "sighting" } == 50)
    #expect(
      run.said == [
        "beaconscan: hci0 (00:AA:01:00:00:00): scanning; no faults, reception never lost in 5.0 s"
      ]
    )
  }

  @Test func countEndsALiveRun() async throws {
    let run = try await LiveRun(["scan", "--count", "3", "--format", "csv", "--quiet"], script())
    #expect(run.output.split(separator: "\n").count == 4)
  }

  @Test(arguments: [
    (
      ScannerAvailability.notPermitted("no permission; run setcap"),
      CommandError.Status.noPermission
    ),
    (.unavailable("no adapter; plug one in"), .unavailable),
  ])
  func whatCannotListenSaysSo(availability: ScannerAvailability, status: CommandError.Status) async
  {
    let scanner = script()
    scanner.availability = availability
    do {
      _ = try await LiveRun(["scan"], scanner)
      Issue.record("it ran")
    } catch let error as CommandError {
      #expect(error.status == status)
      #expect(error.message.contains(";"))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func aScannerThatFailsForGoodIsSaid() async throws {
    struct Broken: Error, CustomStringConvertible { let description = "the socket is closed" }
    let scanner = ScriptedScanner()
    scanner.fail(Broken())
    await #expect {
      _ = try await LiveRun(["scan"], scanner)
    } throws: { error in
      (error as? CommandError)?.status == .unavailable
        && (error as? CommandError)?.message == "script: the socket is closed"
    }
  }
}
