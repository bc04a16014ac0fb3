import Foundation

/// A D-Bus bus of a test's own, which ends with its value.
package final class BusDaemon {
  package let address: String
  private let process: StartedProcess

  /// Starts a bus, whose socket lies in the directory, and which needs the program `dbus-daemon`. Rules are added to its
  /// configuration, such as `<deny send_interface="a.b"/>`. It starts the programs of the service files in a folder.
  package init(in scratch: Scratch, rules: String = "", services: String? = nil) throws {
    address = "unix:path=\(scratch["bus"])"
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        \(services.map { "<servicedir>\($0)</servicedir>" } ?? "")
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
          \(rules)
        </policy>
      </busconfig>
      """
    try scratch.write(Array(configuration.utf8), "bus.conf")
    try? FileManager.default.removeItem(atPath: scratch["bus"])
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "dbus-daemon", "--nofork", "--nopidfile", "--print-address",
      "--config-file=\(scratch["bus.conf"])",
    ]
    process.standardOutput = output
    try scratch.write([], "bus.log")
    process.standardError = FileHandle(forWritingAtPath: scratch["bus.log"])
    self.process = try StartedProcess(process)
    // It prints its address when it listens.
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw NoBus(log: String(decoding: try scratch.bytes("bus.log"), as: UTF8.self))
    }
  }

  private struct NoBus: Error, CustomStringConvertible {
    let log: String
    var description: String {
      "dbus-daemon, which Scripts/setup.sh installs, did not start: \(log)"
    }
  }

  deinit { kill() }

  /// Ends the bus as the kernel does.
  package func kill() {
    if process.isRunning { Foundation.kill(process.identifier, SIGKILL) }
    process.wait()
  }

  /// Stops the bus until ``resume()``: it neither reads nor answers.
  package func pause() { Foundation.kill(process.identifier, SIGSTOP) }
  package func resume() { Foundation.kill(process.identifier, SIGCONT) }
}
