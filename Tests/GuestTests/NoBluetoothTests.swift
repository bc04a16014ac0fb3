import Foundation
import Testing

extension InGuest {
  /// A kernel that has not loaded its Bluetooth, and is not allowed to by itself.
  @Suite struct NoBluetoothTests {
    private static let rule = "/etc/modprobe.d/no-bluetooth.conf"

    private func unload() throws {
      try FileManager.default.createDirectory(
        atPath: "/etc/modprobe.d", withIntermediateDirectories: true)
      // The kernel loads what a socket asks for by its alias.
      try "alias net-pf-31 off\n".write(toFile: Self.rule, atomically: true, encoding: .utf8)
      // bluetoothd has had the profiles loaded.
      let run = try Guest.run(
        "lsmod | awk '/^(bnep|rfcomm|hidp|cmtp) / { print $1 }' | xargs -r modprobe -r;"
          + " modprobe -r hci_vhci bluetooth || { lsmod; exit 1; }")
      try #require(run.status == 0, "\(run.error) \(run.output)")
    }

    private func restore() {
      _ = try? Guest.run("rm -f \(Self.rule); modprobe -a bluetooth hci_vhci")
    }

    /// What monitors waits for an adapter, and says so.
    @Test func isWaitedFor() throws {
      defer { restore() }
      try unload()
      // It says so a moment after its start, which takes seconds in a guest on a busy machine.
      let run = try Guest.run(
        "beaconscan monitor --uuid \(FaultTests.region) 2>/tmp/lost & monitor=$!;"
          + " for try in $(seq 1200); do [ -s /tmp/lost ] && break; sleep 0.1; done;"
          + " kill $monitor; wait $monitor; cat /tmp/lost >&2")
      let lines = run.error.split(separator: "\n")
      #expect(lines.first?.contains("modprobe") == true && lines.count <= 2, "\(run.error)")
    }

    @Test(arguments: [["scan"], ["adapters"], ["doctor"]])
    func isSaid(arguments: [String]) throws {
      defer { restore() }
      try unload()
      let run = try Guest.run("beaconscan \(arguments.joined(separator: " "))")
      #expect(run.status == 69)
      #expect(run.error.contains("modprobe"), "\(run.error)")
      #expect(run.error.split(separator: "\n").count == 1)
    }

    @Test func theDoctorsCommandMendsIt() throws {
      defer { restore() }
      try unload()
      let run = try Guest.run("beaconscan doctor --format json")
      let finding = try #require(run.lines.first { $0.contains(#""level":"error""#) })
      let object = try JSONSerialization.jsonObject(with: Data(finding.utf8)) as? [String: Any]
      #expect(object?["id"] as? String == "kernel")
      let command = try #require(object?["command"] as? String)
      #expect(try Guest.run(command).status == 0, "\(command)")
      let after = try Guest.run("beaconscan doctor --format json").output
      #expect(!after.contains(#""id":"kernel","level":"error""#), "\(after)")
    }
  }
}
