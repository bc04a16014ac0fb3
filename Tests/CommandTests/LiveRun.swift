import Advertising
import ArgumentParser
import BeaconTesting
import Foundation
import Regions
import Scanning
import ServiceCore
import Synchronization
import SystemPackage

@testable import beaconscan

/// The command on a script in place of an adapter, in this process.
struct LiveRun {
  static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  /// What it wrote.
  let output: String
  /// What it said on standard error, a line each.
  let said: [String]

  /// Standard output as JSON lines.
  func json() throws -> [[String: Any]] {
    try output.split(separator: "\n").compactMap { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
  }

  static func frame(_ minor: UInt16) -> BeaconFrame {
    BeaconFrame(uuid: ProximityUUID(uuid) ?? ProximityUUID(high: 0, low: 0), major: 1, minor: minor)
  }

  /// Runs a subcommand until the script's clock has come to its end.
  ///
  /// - Parameters:
  ///   - arguments: The subcommand and its options.
  ///   - scanner: The script. Like a recording it waits for its reader, so that no report is left out.
  /// - Throws: What the subcommand throws.
  init(_ arguments: [String], _ scanner: ScriptedScanner) async throws {
    let scratch = try Scratch()
    let file = try scratch.file("output")
    let descriptor = try FileDescriptor.open(FilePath(file.path), .writeOnly)
    defer { try? descriptor.close() }
    let lines = Lines()
    let out = StandardOutput(descriptor)
    let (type, path) = GivenArguments(arguments).subcommand()
    let command = try type.init(
      GivenInputs(arguments.dropFirst(path.count), for: type, path: path))
    func session(
      _ source: SourceOptions, _ configuration: BeaconService.Configuration = .init()
    ) throws -> BeaconSession {
      try BeaconSession(
        source.limit(scanner), isLive: true, showsProgress: false, configuration: configuration,
        report: lines.add)
    }
    switch command {
    case let scan as ScanCommand:
      try await scan.run(session(scan.source), to: out)
    case let range as RangeCommand:
      try await range.run(session(range.source, range.configuration), to: out)
    case let monitor as MonitorCommand:
      let rules = try monitor.rules.rules
      try await monitor.run(
        session(monitor.source, monitor.configuration(rules)), rules, to: out)
    default: throw CommandError(.usage, "no live subcommand")
    }
    output = try String(contentsOf: file, encoding: .utf8)
    said = lines.all
  }

  /// Takes lines.
  private final class Lines: Sendable {
    private let state = Mutex<[String]>([])

    var all: [String] { state.withLock { $0 } }
    var add: @Sendable (String) -> Void { { line in self.state.withLock { $0.append(line) } } }
  }
}
