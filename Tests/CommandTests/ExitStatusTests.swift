import Foundation
import TestSupport
import Testing

/// How the command ends, and the one sentence that it says then.
@Suite(.blocking) struct ExitStatusTests {
  /// The status, and one line on standard error that holds some words.
  private func expect(_ run: Run, _ status: Int32, _ words: String...) {
    #expect(run.status == status, "\(run.error)")
    for word in words { #expect(run.error.contains(word), "\(run.error)") }
    #expect(run.error.hasPrefix("beaconscan: "), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1, "\(run.error)")
  }

  @Test(arguments: [["scan"], ["range"], ["monitor", "--uuid", MonitorRun.visitor]])
  func missingFile(arguments: [String]) throws {
    let line = arguments.joined(separator: " ")
    let run = try Command.shell("beaconscan \(line) --replay /nonexistent/file")
    expect(run, 66, "/nonexistent/file", "there is no such file; check the path")
    #expect(run.output.isEmpty)
  }

  @Test func missingFileToInspect() throws {
    expect(try Command.run("inspect", "/nonexistent/file"), 66, "there is no such file")
    expect(try Command.run("simulate", "/nonexistent", "--output", "-"), 66, "/nonexistent")
  }

  @Test func notACapture() throws {
    let scratch = try Scratch()
    let text = try scratch.file("text", "this is a letter, not a capture")
    expect(try Command.run("scan", "--replay", text.path), 65, text.path, "not a btsnoop, pcap")
    let empty = try scratch.file("empty")
    expect(try Command.run("inspect", empty.path), 65, "it is empty")
    let ppi = try scratch.file("ppi", Recording.pcapHeader(linkType: 192))
    expect(try Command.run("scan", "--replay", ppi.path), 65, "link type 192 (PPI)")
    expect(try Command.run("scan", "--replay", "/"), 66, "it is a directory")
  }

  /// What stood whole before the cut is given, then the error.
  @Test func cutFile() throws {
    let scratch = try Scratch()
    let cut = try scratch.file("cut", try Recording.head(20_000))
    for format in ["json", "csv", "table"] {
      let run = try Command.run("scan", "--replay", cut.path, "--format", format)
      expect(run, 65, cut.path, ": byte ", "the recording was cut short")
      #expect(run.lines.count > 50)
    }
    let inspect = try Command.run("inspect", cut.path, "--format", "json")
    expect(inspect, 65, "cut short")
    #expect(try inspect.json().last?["type"] as? String == "summary")
    let range = try Command.run("range", "--replay", cut.path, "--format", "json")
    expect(range, 65, "cut short")
    #expect(try range.json().last?["type"] as? String == "summary")
  }

  @Test func bluezNeedsABus() throws {
    let run = try Command.shell(
      "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere beaconscan scan --backend bluez")
    expect(run, 69, "message bus cannot be reached")
    #expect(run.output.isEmpty)
    expect(try Command.run("scan", "--backend", "bluez", "--coded"), 64, "--coded needs raw HCI")
  }

  /// Where the kernel has no Bluetooth, every subcommand that needs it has the doctor's diagnosis.
  @Test func oneDiagnosis() throws {
    let scratch = try Scratch()
    let doctor = try Command.run("doctor")
    guard doctor.error.contains("has no Bluetooth") else { return }
    let new = scratch.path("new").path
    for line in [
      "scan", "scan --all", "range --adapter hci0", "range --backend hci", "inspect --duration 1s",
      "calibrate", "record '\(new)'", "advertise --uuid \(MonitorRun.visitor)",
    ] {
      let run = try Command.shell("beaconscan \(line)")
      #expect(run.status == 69 && run.error == doctor.error, "\(line): \(run.error)")
    }
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test func unwritableOutput() throws {
    let scratch = try Scratch()
    let scenario = Command.capture("visitor.json")
    let run = try Command.run(
      "simulate", scenario, "--output", scratch.path("none/file").path)
    expect(run, 73, "cannot create it")
    let full = try Command.shell(
      "beaconscan scan --replay captures/visitor.btsnoop > /dev/full")
    expect(full, 74, "standard output")
  }

  @Test(arguments: ["zz", "0", "4c 0", "", "--", "1_"])
  func badHexadecimal(text: String) throws {
    let run = try Command.shell("beaconscan decode -- '\(text)'")
    expect(run, 65)
  }

  @Test(arguments: [
    [], ["scan"], ["range"], ["monitor"], ["inspect"], ["decode"], ["record"], ["simulate"],
  ])
  func help(path: [String]) throws {
    let run = try Command.shell("beaconscan \(path.joined(separator: " ")) --help")
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.output.contains("USAGE: beaconscan"))
    #expect(run.output.contains("EXAMPLES"))
  }

  @Test func version() throws {
    let run = try Command.run("--version")
    #expect(run.status == 0)
    #expect(run.output.wholeMatch(of: #/[0-9]+\.[0-9]+\.[0-9]+\n/#) != nil)
  }
}
