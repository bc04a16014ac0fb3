import Foundation
import Testing

/// What `beaconscan doctor` reports where something is wrong, and that the command it names fixes it.
extension InGuest {
  @Suite struct DoctorTests {
    /// A line of its output.
    private struct Finding {
      var id: String
      var level: String
      var adapter: String?
      var message: String
      var command: String?
    }

    /// A run of it.
    private struct Examination {
      var status: Int32
      var error: String
      var findings: [Finding]

      /// What is wrong, in order.
      var errors: [Finding] { findings.filter { $0.level == "error" } }

      func finding(_ id: String, _ adapter: String? = nil) -> Finding? {
        findings.first { $0.id == id && (adapter == nil || $0.adapter == adapter) }
      }
    }

    /// Examines the guest; the prefix runs the program, as `setpriv` with its options does.
    private func examine(
      _ prefix: String = "", program: String = Guest.beaconscan
    ) throws -> Examination {
      let run = try Guest.run("\(prefix) \(program) doctor --format json")
      let findings = try run.lines.map { line in
        let object = try #require(
          try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        #expect(object["type"] as? String == "finding")
        return Finding(
          id: try #require(object["id"] as? String),
          level: try #require(object["level"] as? String), adapter: object["adapter"] as? String,
          message: try #require(object["message"] as? String),
          command: object["command"] as? String)
      }
      return Examination(status: run.status, error: run.error, findings: findings)
    }

    private static let nobody =
      "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"

    /// Gives a command as the user would. The guest's root has no sudo.
    private func give(_ command: String?) throws {
      let command = try #require(command).replacing("sudo ", with: "")
      // btmgmt wants an open standard input. A daemon that a command starts must not keep what the shell inherited.
      let run = try Guest.run(
        """
        bash <<'END'
        for file in /proc/$$/fd/*; do
          number=${file##*/}
          [ "$number" -gt 2 ] && [ "$number" -ne 255 ] && eval "exec $number>&-"
        done
        (\(command)) </dev/zero >/dev/null
        END
        """)
      try #require(run.status == 0, "\(command): \(run.error)")
    }

    @Test func allIsWell() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let doctor = try examine()
      #expect(doctor.status == 0 && doctor.error.isEmpty, "\(doctor.error)")
      let others = doctor.findings.filter { $0.level != "ok" }
      #expect(others.prefix(2).map(\.id) == ["bus", "backend"])
      // Beacons need neither locations nor a service for apps.
      #expect(
        others.dropFirst(2).map(\.id)
          == ["gpsd", "geoclue", "compass", "position", "location", "apps"])
      #expect(others.dropFirst(2).allSatisfy { $0.level == "info" })
      #expect(doctor.finding("scan", "hci0") != nil)
      #expect(doctor.finding("bus")?.level == "warning")
      #expect(doctor.finding("backend")?.message.contains("by raw HCI sockets") == true)
      try air.stop()
    }

    @Test func noAdapter() throws {
      let doctor = try examine()
      #expect(doctor.status == 69 && doctor.errors.map(\.id) == ["adapter"])
      #expect(doctor.error.contains("there is no adapter"))
      #expect(doctor.error.split(separator: "\n").count == 1)
    }

    /// Off, and blocked: each command in its order, and scanning works.
    @Test func blockedAndOff() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try air.waitUntilSwitchedOff()
      try Guest.run("rfkill block bluetooth")
      var doctor = try examine()
      #expect(doctor.status == 69 && doctor.errors.map(\.id) == ["rfkill", "power"])
      try give(doctor.errors.first?.command)
      doctor = try examine()
      #expect(doctor.status == 69 && doctor.errors.map(\.id) == ["power"])
      try give(doctor.errors.first?.command)
      #expect(try examine().status == 0)
      try air.stop()
    }

    /// The same beside bluetoothd, by its own tool.
    @Test func offBesideBluetoothd() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      try Guest.run("hciconfig hci0 down")
      let doctor = try examine()
      #expect(doctor.errors.map(\.id) == ["power"])
      #expect(doctor.finding("bluetoothd")?.level == "ok")
      #expect(doctor.errors.first?.command == "bluetoothctl power on")
      try give(doctor.errors.first?.command)
      #expect(try Guest.wait { try examine().status == 0 })
      try air.stop()
    }

    /// A user without any capability, from a machine without a bus to a scan by bluetoothd: each fault in its turn,
    /// and its command.
    @Test func bluetoothdStepByStep() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      let refusal = "/etc/dbus-1/system.d/refusal.conf"
      let settings = "/etc/bluetooth/main.conf"
      try Guest.run("cp \(settings) /run/main.conf")
      defer {
        _ = try? Guest.run(
          """
          service bluetooth stop; service dbus stop; gpasswd -d nobody bluetooth
          rm -f \(refusal) /run/dbus/system_bus_socket; cp /run/main.conf \(settings)
          """)
      }
      try air.waitUntilSwitchedOff()
      var doctor = try examine(Self.nobody)
      #expect(doctor.errors.map(\.id) == ["power", "permission", "bus"])
      try give(doctor.errors.last?.command)

      doctor = try examine(Self.nobody)
      #expect(doctor.errors.map(\.id) == ["power", "permission", "bluetoothd"])
      let policy = #"<policy context="default"><deny send_destination="org.bluez"/></policy>"#
      try "<busconfig>\(policy)</busconfig>".write(
        toFile: refusal, atomically: true, encoding: .utf8)
      try Guest.run("service dbus reload")
      try give(doctor.errors.last?.command)

      // bluetoothd switches the adapter on, once it has begun.
      try #require(
        try Guest.wait {
          doctor = try examine(Self.nobody)
          return doctor.errors.map(\.id) == ["permission", "policy"]
        }, "\(doctor.errors)")
      #expect(doctor.status == 77)
      try give(doctor.errors.last?.command)

      let user = "setpriv --reuid=65534 --regid=65534 --init-groups --inh-caps=-all"
      doctor = try examine(user)
      #expect(doctor.status == 0 && doctor.finding("permission")?.level == "warning")
      #expect(doctor.finding("monitors", "hci0")?.level == "warning")
      try give(doctor.finding("monitors")?.command)
      try #require(
        try Guest.wait {
          doctor = try examine(user)
          return doctor.status == 0 && doctor.finding("monitors")?.level == "ok"
        }, "\(doctor.findings)")

      try Guest.run("\(user) bluetoothctl power off")
      doctor = try examine(user)
      #expect(doctor.status == 69 && doctor.errors.map(\.id) == ["power"])
      try give("\(user) \(doctor.errors.first?.command ?? "")")
      try #require(try Guest.wait { try examine(user).status == 0 })
      let scan = try Guest.run(
        "\(user) beaconscan scan --count 3 --duration 120 --format json --verbose")
      #expect(scan.status == 0 && scan.lines.count >= 3, "\(scan.error)")
      doctor = try examine(user)
      let backend = try #require(doctor.finding("backend"))
      #expect(backend.level == "info" && backend.message.contains("through bluetoothd"))
      try air.stop()
    }

    @Test func noCapability() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try Guest.run("mkdir -p '/dev/shm/a b' && cp \(Guest.beaconscan) '/dev/shm/a b/beaconscan'")
      let program = "'/dev/shm/a b/beaconscan'"
      let doctor = try examine(Self.nobody, program: program)
      #expect(doctor.status == 77 && doctor.errors.map(\.id) == ["permission", "bus"])
      let command = "sudo setcap cap_net_raw+ep '/dev/shm/a b/beaconscan'"
      #expect(doctor.errors.first?.command == command)
      try give(command)
      #expect(try examine(Self.nobody, program: program).status == 0)
      // It has the right now, but may not get it.
      // The first setpriv still has root's own rights, of which the kernel would leave it this one.
      let unprivileged = try examine("\(Self.nobody) setpriv --no-new-privs", program: program)
      #expect(unprivileged.status == 77)
      #expect(unprivileged.errors.first?.message.contains("no_new_privs") == true)
      try air.stop()
    }

    /// Where a file's capability is not given, it is installed where it is.
    @Test func nosuid() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try Guest.run(
        """
        mkdir -p /mnt/nosuid && mount -t tmpfs -o nosuid,mode=755 none /mnt/nosuid
        cp \(Guest.beaconscan) /mnt/nosuid && setcap cap_net_raw+ep /mnt/nosuid/beaconscan
        mount -t tmpfs none /usr/local/bin
        """)
      defer { _ = try? Guest.run("umount /mnt/nosuid /usr/local/bin") }
      let doctor = try examine(Self.nobody, program: "/mnt/nosuid/beaconscan")
      #expect(doctor.status == 77)
      #expect(doctor.errors.first?.message.contains("nosuid") == true)
      try give(doctor.errors.first?.command)
      #expect(try examine(Self.nobody, program: "/usr/local/bin/beaconscan").status == 0)
      try air.stop()
    }

    @Test func otherNamespaces() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let network = try examine("unshare --net")
      #expect(network.status == 69 && network.errors.map(\.id) == ["network", "bus"])
      let command = try #require(network.errors.first?.command)
      #expect(command.hasPrefix("nsenter --target 1 --net -- "))
      #expect(try Guest.run("unshare --net \(command)").status == 0)
      // A container has processes of its own, too.
      let container = try examine("unshare --net --pid --fork --mount-proc")
      #expect(container.errors.map(\.id) == ["bus", "network"])
      #expect(container.errors.last?.command?.contains("--network host") == true)
      let rootless = try examine("unshare --map-root-user")
      #expect(rootless.status == 77 && rootless.errors.map(\.id) == ["permission", "bus"])
      #expect(rootless.errors.first?.message.contains("namespace of users") == true)
      try air.stop()
    }

    /// A program that has the adapter for itself; the command ends it.
    @Test func held() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try air.waitUntilSwitchedOff()
      let script = """
        import ctypes, struct, time
        libc = ctypes.CDLL(None)
        s = libc.socket(31, 3, 1)
        assert libc.bind(s, struct.pack("<HHH", 31, 0, 1), 6) == 0
        print("bound", flush=True)
        time.sleep(3600)
        """
      let holder = try Child("/usr/bin/python3", ["-c", script], output: .file)
      try #require(Guest.wait { holder.output == "bound\n" }, "\(holder.error)")
      let doctor = try examine()
      #expect(doctor.status == 69 && doctor.errors.map(\.id) == ["held"])
      #expect(doctor.errors.first?.command == "kill \(holder.id)")
      let adapters = try Guest.run("beaconscan adapters --format json")
      #expect(adapters.output.contains(#""state":"held""#))
      try give(doctor.errors.first?.command)
      _ = holder.finish()
      try Guest.up()
      #expect(try examine().status == 0)
      try air.stop()
    }

    /// Another program scans, by commands of either kind.
    @Test(arguments: [#"{"plug": "a"}"#, #"{"plug": "a", "extended": true}"#])
    func anotherScans(plug: String) throws {
      let air = try VirtualController(plug)
      try Guest.up()
      let other = try LiveCommand("scan", "--adapter", "hci0")
      #expect(try Guest.wait { try air.scan().isOn })
      let doctor = try examine()
      #expect(doctor.status == 0)
      let finding = try #require(doctor.finding("scan", "hci0"))
      #expect(finding.level == "warning" && finding.command == "kill \(other.id)")
      // Its scan goes on as it was.
      #expect(try air.scan().isOn)
      try give(finding.command)
      _ = other.finish()
      #expect(try examine().finding("scan", "hci0")?.level == "ok")
      // To look does not start a scan.
      #expect(try !air.scan().isOn)
      try air.stop()
    }

    /// A killed program left its scan on: nothing holds it, and the command ends it.
    @Test func aScanThatWasLeftOn() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let killed = try LiveCommand("scan", "--adapter", "hci0")
      #expect(try Guest.wait { try air.scan().isOn })
      kill(killed.id, SIGKILL)
      killed.finish()
      let finding = try #require(try examine().finding("scan", "hci0"))
      #expect(finding.level == "warning" && finding.message.contains("no program"))
      try give(finding.command)
      #expect(try !air.scan().isOn)
      #expect(try examine().finding("scan", "hci0")?.level == "ok")
      try air.stop()
    }

    /// The doctor comes back from a controller that does not, and one that works is enough.
    @Test func mute() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:01"}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:02"}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      try air.perform(#"{"mute": true, "controller": "b"}"#)
      let began = Guest.now
      var doctor = try examine()
      print("doctor took \(Guest.now - began) s beside a controller that does not answer")
      #expect(doctor.status == 0)
      #expect(doctor.finding("answer", "hci1")?.level == "warning")
      try air.perform(#"{"mute": true, "controller": "a"}"#)
      doctor = try examine()
      #expect(doctor.status == 69 && Set(doctor.errors.map(\.id)) == ["answer"])
      try air.perform(#"{"mute": false, "controller": "a"}"#)
      try give(doctor.errors.first?.command)
      #expect(try examine().status == 0)
      try air.stop()
    }
  }
}
