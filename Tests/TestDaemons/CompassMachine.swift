import DBusMessages
import Foundation
import TestSupport

/// A machine with a compass, in which iio-sensor-proxy runs: see `compass.py`.
package final class CompassMachine {
  private let process: StartedProcess
  private let input = Pipe()
  private let output = Pipe()
  private let observer: BusConnection

  package init(_ address: String) throws {
    observer = try BusConnection(.address(address))
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "compass.py")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/umockdev-wrapper")
    process.arguments = ["/usr/bin/python3", script.path, address]
    process.standardInput = input
    process.standardOutput = output
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/umockdev-wrapper") else {
      throw Daemon.NoDaemon(program: "/usr/bin/umockdev-wrapper")
    }
    self.process = try StartedProcess(process)
  }

  /// Runs commands, one after the other.
  package func run(_ commands: String...) throws {
    for command in commands {
      try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
      var answer = Data()
      while answer.last != UInt8(ascii: "\n") {
        let new = output.fileHandleForReading.availableData
        guard !new.isEmpty else { throw Ended() }
        answer += new
      }
      guard command == "start" else { continue }
      _ = try eventually { try observer.owner(of: "net.hadess.SensorProxy") != nil }
    }
  }

  private struct Ended: Error {}

  deinit {
    // It ends the daemon.
    try? input.fileHandleForWriting.close()
    process.wait()
  }
}
