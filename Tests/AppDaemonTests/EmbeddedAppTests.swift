import Advertising
import BeaconTesting
import Foundation
import Scanning
import ServiceCore
import TestSupport
import Testing

@testable import AppDaemon
@testable import Embedding

/// The library for C as an app of a daemon.
@Suite(.blocking) struct EmbeddedAppTests {
  private static func scanner(
    _ machine: TestMachine, _ more: [String: String] = [:]
  ) throws -> EmbeddedScanner {
    var options = EmbeddingOptions()
    try options.set("region", to: "door=\(AppServerTests.uuid):1")
    try options.set("daemon", to: "required")
    try options.set("quiet", to: "true")
    for (name, value) in more { try options.set(name, to: value) }
    return try EmbeddedScanner(options, environment: ["BEACONSCAN_SOCKET": machine.socket])
  }

  private struct Line: Decodable {
    var type: String
    var state: String?
    var error: String?
  }

  /// Takes the lines of a scanner until one is of a type, while the radio's time passes.
  private static func lines(
    _ scanner: EmbeddedScanner, _ machine: TestMachine, to last: String
  ) async throws -> [Line] {
    var lines: [Line] = []
    _ = await machine.advance {
      while let line = scanner.next(),
        let read = try? JSONDecoder().decode(
          Line.self, from: Data(line))
      {
        lines.append(read)
        if read.type == last { return true }
      }
      return false
    }
    return lines
  }

  @Test func aProgramReceivesWhatTheDaemonDoes() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    do {
      let scanner = try Self.scanner(machine, ["range": "true"])
      #expect(machine.apps?.uses.values.map(\.beacons) == [.ranging])
      let lines = try await Self.lines(scanner, machine, to: "exit")
      let crossings = lines.map(\.type).filter { ["state", "enter", "exit"].contains($0) }
      #expect(crossings == ["state", "enter", "exit"], "\(lines.map(\.type))")
      #expect(lines.contains { $0.type == "range" })
      scanner.stop()
    }
    // It asked for the permission while in use, and leaves nothing.
    #expect(await eventually { machine.apps?.uses.isEmpty == true })
    #expect(await eventually { machine.profiles.isEmpty })
    await machine.stop()
  }

  /// Two programs of one app, such as two scripts of Python, do not share their regions.
  @Test func twoProgramsOfOneAppAreApart() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    let first = try Self.scanner(machine)
    let other = try Self.scanner(machine, ["region": "hall=\(AppServerTests.uuid):2"])
    #expect(machine.apps?.uses.values.map(\.regions) == [3])
    other.stop()
    #expect(await eventually { machine.apps?.uses.values.map(\.regions) == [1] })
    let lines = try await Self.lines(first, machine, to: "exit")
    #expect(lines.map(\.type).filter { ["enter", "exit"].contains($0) } == ["enter", "exit"])
    first.stop()
    await machine.stop()
  }

  /// The program ends while no daemon runs.
  @Test func regionsOfAProcessDoNotOutliveTheDaemonAlone() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    do {
      let scanner = try Self.scanner(machine)
      #expect(await machine.advance(to: 15) { scanner.next() != nil })
      await machine.stop()
      scanner.stop()
    }
    machine.returnTime = 0.5
    try machine.start()
    #expect(machine.apps?.uses.values.map(\.regions) == [1])
    #expect(await eventually { machine.apps?.uses.isEmpty == true })
    #expect(await eventually { machine.profiles.isEmpty })
    await machine.stop()
  }

  @Test func regionsStayWithAlwaysAndTheirEventsComeOnce() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    machine.appsRun.withLock { $0 = true }
    try Self.scanner(machine, ["always": "true"]).stop()
    #expect(await machine.isWithoutProcesses())
    #expect(machine.apps?.uses.values.map(\.regions) == [1])
    let start = machine.scanner.clock.now
    #expect(await machine.advance { machine.scanner.delivered.seconds(since: start) > 40 })
    for expected in [["enter", "exit"], []] {
      let scanner = try Self.scanner(machine, ["always": "true"])
      var lines: [String] = []
      for _ in expected {
        #expect(
          await eventually {
            guard let line = scanner.next(),
              let read = try? JSONDecoder().decode(Line.self, from: Data(line))
            else { return false }
            lines.append(read.type)
            return ["enter", "exit"].contains(read.type)
          })
      }
      #expect(lines.filter { ["enter", "exit"].contains($0) } == expected)
      // The latest one counts as delivered with the next call.
      _ = scanner.next()
      scanner.stop()
    }
    await machine.stop()
  }

  @Test func nobodyHasDecidedAndThenTheAdministratorDoes() async throws {
    let machine = try TestMachine(.visitor(), file: "{}")
    try machine.start()
    let scanner = try Self.scanner(machine)
    let undecided = try await Self.lines(scanner, machine, to: "health")
    #expect(undecided.last?.type == "health")
    try #"{"*": "always"}"#.write(toFile: machine.file, atomically: true, encoding: .utf8)
    let lines = try await Self.lines(scanner, machine, to: "enter")
    #expect(lines.last?.type == "enter")
    try #"{"*": "denied"}"#.write(toFile: machine.file, atomically: true, encoding: .utf8)
    let end = try await Self.lines(scanner, machine, to: "end")
    #expect(end.last?.error?.contains("may not receive") == true)
    scanner.stop()
    let error = #expect(throws: EmbeddingError.self) { try Self.scanner(machine) }
    #expect(error?.description.contains("may not receive") == true)
    await machine.stop()
  }

  @Test func aDaemonThatIsRequiredAndMissingIsAFault() async throws {
    let machine = try TestMachine(.visitor())
    let scanner = try Self.scanner(machine)
    let absent = try await Self.lines(scanner, machine, to: "health")
    #expect(absent.map(\.type) == ["health"])
    try machine.start()
    let lines = try await Self.lines(scanner, machine, to: "enter")
    #expect(lines.last?.type == "enter")
    scanner.stop()
    await machine.stop()
  }
}
