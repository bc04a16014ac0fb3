import Foundation
import Testing

extension InGuest {
  /// A container: namespaces of its own, no capability, and a root with `/usr`, the command, and a socket of the bus.
  @Suite struct ContainerTests {
    private static let root = "/dev/shm/container"
    private static let nobody =
      "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"

    private func setUp() throws {
      let run = try Guest.run(
        """
        set -e
        mkdir -p \(Self.root) && cd \(Self.root)
        mkdir -p usr proc dev tmp app run/dbus
        mount --bind /usr usr
        for name in lib lib64 bin sbin; do ln -sfn usr/$name $name; done
        cp \(Guest.beaconscan) app
        """)
      try #require(run.status == 0, "\(run.error)")
    }

    private func tearDown() {
      _ = try? Guest.run(
        "umount \(Self.root)/run/dbus \(Self.root)/usr && rm -rf \(Self.root) /run/proxy")
    }

    /// Mounts a directory of the host's at the container's `/run/dbus`, in place of another one.
    private func mount(_ directory: String) throws {
      let place = "\(Self.root)/run/dbus"
      let run = try Guest.run(
        "mountpoint -q \(place) && umount \(place); mount --bind \(directory) \(place)")
      try #require(run.status == 0, "\(run.error)")
    }

    /// Runs the command inside, as a user who has the number 65534 on the host.
    private func run(_ arguments: String, user: String = "--map-current-user") throws -> Guest.Run {
      try Guest.run(
        """
        \(Self.nobody) unshare --user \(user) --keep-caps --mount --pid --fork --net --ipc --uts \
          --root=\(Self.root) --mount-proc /app/beaconscan \(arguments)
        """)
    }

    private func expectScan() throws {
      let scan = try run("scan --count 1 --duration 120 --format json")
      #expect(scan.status == 0 && scan.output.contains("sighting"), "\(scan.error)")
    }

    @Test func theSocketOfTheBusIsEnough() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      defer { tearDown() }
      try setUp()
      let without = try run("doctor")
      #expect(without.status == 69)
      #expect(without.error.contains("docker run -v /run/dbus:/run/dbus IMAGE"), "\(without.error)")

      try mount("/run/dbus")
      let doctor = try run("doctor --format json")
      #expect(doctor.status == 0, "\(doctor.output)")
      #expect(doctor.output.contains(#""id":"network","level":"warning""#))
      #expect(doctor.output.contains("through bluetoothd"))
      try expectScan()

      // The bus compares the number that libdbus sends with the one that the kernel shows.
      let renamed = try run("doctor", user: "--map-root-user")
      #expect(renamed.status == 77)
      #expect(renamed.error.contains("docker run --userns host"), "\(renamed.error)")
      try air.stop()
    }

    /// The bus as Flatpak filters it. bluetoothd calls the command's advertisement monitors through the filter.
    @Test func aFilteredBus() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      let service = try BlueZ("-E")
      defer { service.stop() }
      defer { tearDown() }
      try setUp()
      try "[Application]\nname=org.example.Kiosk\n".write(
        toFile: "\(Self.root)/.flatpak-info", atomically: true, encoding: .utf8)
      func filter(_ name: String, _ options: String...) throws -> Child {
        try Guest.run("mkdir -p /run/proxy/\(name) && chown 65534 /run/proxy/\(name)")
        let line =
          Self.nobody.split(separator: " ").dropFirst().map(String.init)
          + ["xdg-dbus-proxy", "unix:path=/run/dbus/system_bus_socket"]
          + ["/run/proxy/\(name)/system_bus_socket", "--filter"] + options
        let proxy = try Child("/usr/bin/setpriv", line, output: .file)
        try #require(
          Guest.wait {
            FileManager.default.fileExists(atPath: "/run/proxy/\(name)/system_bus_socket")
          }, "\(proxy.error)")
        try mount("/run/proxy/\(name)")
        return proxy
      }
      let closed = try filter("closed")
      let doctor = try run("doctor")
      let command = "flatpak override --user --system-talk-name=org.bluez org.example.Kiosk"
      #expect(doctor.status == 69 && doctor.error.contains(command), "\(doctor.error)")
      let open = try filter("open", "--talk=org.bluez")
      #expect(try run("doctor").status == 0)
      try expectScan()
      for proxy in [closed, open] {
        proxy.send(SIGTERM)
        proxy.finish()
      }
      try air.stop()
    }
  }
}
