import Foundation
import Testing

extension InGuest {
  /// Each thing that stops scanning is made true, found, and mended by the very command that is printed.
  @Suite struct DoctorTests {
    /// Something that is wrong, and what must be found.
    struct Trouble: CustomTestStringConvertible {
      var finding: String
      /// Shell that makes it true.
      var cause: String

      var testDescription: String { "\(finding): \(cause)" }
    }

    static let troubles = [
      Trouble(finding: "power", cause: "hciconfig hci0 down"),
      Trouble(finding: "rfkill", cause: "rfkill block bluetooth"),
    ]

    private func examine(by user: LiveCommand.User = .root) throws -> (
      status: Int32, findings: [[String: Any]], error: String
    ) {
      let line = user.prefix + [Guest.beaconscan, "doctor", "--format", "json"]
      let run = try Guest.run(line.joined(separator: " "))
      let findings = try run.lines.map { text in
        try #require(
          try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
      }
      return (run.status, findings, run.error)
    }

    private func finding(_ id: String, in findings: [[String: Any]]) -> [String: Any]? {
      findings.first { $0["id"] as? String == id && $0["level"] as? String != "ok" }
    }

    @Test func nothingIsWrong() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let (status, findings, error) = try examine()
      #expect(status == 0 && error.isEmpty)
      #expect(!findings.isEmpty && findings.allSatisfy { $0["level"] as? String != "error" })
      #expect(!(try air.scan().isOn), "a doctor starts no scan")
      try air.stop()
    }

    @Test(arguments: troubles) func isFoundAndMended(trouble: Trouble) throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try Guest.run(trouble.cause)
      let (status, findings, error) = try examine()
      #expect(status == 69, "\(error)")
      let found = try #require(finding(trouble.finding, in: findings), "\(findings)")
      #expect(found["level"] as? String == "error")
      let command = try #require(found["command"] as? String)
      try Guest.run(command)
      // What was blocked is off afterwards: that is the next finding.
      if trouble.finding == "rfkill" {
        let next = try examine().findings
        try Guest.run(try #require(finding("power", in: next)?["command"] as? String))
      }
      let after = try examine()
      #expect(
        after.status == 0 && finding(trouble.finding, in: after.findings) == nil, "\(command)")
      try air.stop()
    }

    @Test func anotherProgramScans() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let other = try Child(
        "/usr/bin/hcitool", ["-i", "hci0", "lescan", "--passive"], output: .file)
      try #require(try Guest.wait(10) { try air.scan().isOn })
      let (status, findings, error) = try examine()
      #expect(status == 0, "\(error)")
      #expect(finding("scan", in: findings)?["level"] as? String == "warning", "\(findings)")
      #expect(try air.scan().isOn, "a doctor ends no scan")
      other.send(SIGINT)
      other.finish(limit: 10)
      #expect(finding("scan", in: try examine().findings) == nil)
      try air.stop()
    }

    @Test func noAdapter() throws {
      let (status, findings, error) = try examine()
      #expect(status == 69)
      #expect(finding("adapter", in: findings)?["level"] as? String == "error")
      #expect(error.split(separator: "\n").count == 1)
    }

    @Test func noPermission() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let (status, findings, error) = try examine(by: .nobody)
      #expect(status == 77, "\(error)")
      #expect(finding("permission", in: findings)?["command"] != nil)
      #expect(try examine(by: .scanner).status == 0)
      try air.stop()
    }

    @Test func theControllerDoesNotAnswer() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try air.perform(#"{"mute": true}"#)
      let (status, findings, error) = try examine()
      #expect(status == 69, "\(error)")
      #expect(finding("answer", in: findings)?["level"] as? String == "error", "\(findings)")
      try air.perform(#"{"mute": false}"#)
      try air.stop()
    }

    /// Bluetooth is in the first network namespace alone, as a container without the host's has it.
    @Test func anotherNetworkNamespace() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let run = try Guest.run("unshare --net beaconscan doctor --format json")
      #expect(run.status == 69)
      #expect(
        run.lines.contains { $0.contains(#""id":"network","level":"error""#) }, "\(run.output)")
      let scan = try Guest.run("unshare --net beaconscan scan --adapter hci0 --duration 2")
      #expect(scan.status == 69)
      #expect(scan.error.split(separator: "\n").count == 1, "\(scan.error)")
      try air.stop()
    }

    /// A kernel that has not loaded its Bluetooth, and is not allowed to by itself.
    @Test func noBluetoothInTheKernel() throws {
      try Guest.run("mkdir -p /etc/modprobe.d; rm -f /etc/modprobe.d/no-bluetooth.conf")
      let unloaded = try Guest.run("modprobe -r hci_vhci bluetooth")
      try #require(unloaded.status == 0, "\(unloaded.error)")
      // The kernel loads what a socket asks for by its alias.
      try "alias net-pf-31 off\n".write(
        toFile: "/etc/modprobe.d/no-bluetooth.conf", atomically: true, encoding: .utf8)
      defer { _ = try? Guest.run("rm /etc/modprobe.d/no-bluetooth.conf; modprobe hci_vhci") }
      let (status, findings, _) = try examine()
      #expect(status == 69)
      let command = try #require(
        finding("kernel", in: findings)?["command"] as? String, "\(findings)")
      let scan = try Guest.run("beaconscan scan --duration 2")
      #expect(scan.status == 69)
      #expect(try Guest.run(command).status == 0, "\(command)")
      #expect(finding("kernel", in: try examine().findings) == nil)
    }
  }
}
