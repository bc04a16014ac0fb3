import Foundation
import Testing

extension InGuest {
  /// `serve` as its unit of systemd runs it: a user of its own, with CAP_NET_RAW alone, on a real adapter.
  @Suite struct ServeTests {
    private static let place = "http://127.0.0.1:8732"
    private static let folder = "/dev/shm/served"

    /// Returns the JSON of a path; `nil` while the service does not answer.
    private func get(_ path: String) throws -> [String: Any]? {
      let run = try Guest.run("curl -s --max-time 30 \(Self.place)/api/v1/\(path)")
      return try? JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    }

    /// Returns the values of a metric, by what stands between the name and the value.
    private func metric(_ name: String) throws -> [String: Double] {
      let run = try Guest.run("curl -s --max-time 30 \(Self.place)/metrics")
      return run.lines.reduce(into: [:]) { values, line in
        let parts = line.split(separator: " ")
        guard parts.count == 2, parts[0].hasPrefix(name) else { return }
        values[String(parts[0].dropFirst(name.count))] = Double(parts[1])
      }
    }

    /// Returns the state of the only receiver.
    private func receiver() throws -> [String: Any]? {
      (try get("health")?["receivers"] as? [[String: Any]])?.first
    }

    private func sightings() throws -> Double {
      try metric("beaconscan_sightings_total")[""] ?? 0
    }

    @Test func receivesAsItsOwnUser() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#, FaultTests.beacon)
      try Guest.up()
      try Guest.run("rm -rf \(Self.folder); install -d -o 65534 -g 65534 -m 700 \(Self.folder)")
      let user =
        LiveCommand.User.scanner.prefix + ["--bounding-set=-all,+net_raw", "--no-new-privs"]
      let service = try Child(
        user[0],
        user.dropFirst() + [
          Guest.beaconscan, "serve", "--config", "/dev/null", "--backend", "hci", "--adapter",
          "00:AA:01:00:00:42", "--region", "desk=\(FaultTests.region):1:2",
          "--state-file", "\(Self.folder)/service", "--history", "\(Self.folder)/history.sqlite",
          "--listen", "127.0.0.1:8732",
        ], output: .file)
      try #require(
        try Guest.wait { try get("health") != nil || !service.isRunning }, "\(service.error)")
      let rights = try Guest.run("grep -E '^(Uid|Cap(Prm|Eff|Bnd))' /proc/\(service.id)/status")
      // CAP_NET_RAW is bit 13.
      #expect(
        rights.lines.map { $0.split(separator: "\t").last.map(String.init) }
          == ["65534"] + Array(repeating: "0000000000002000", count: 3), "\(rights.output)")

      let stream = try Child(
        "/usr/bin/curl", ["-sN", "\(Self.place)/api/v1/events"], output: .file)
      /// Waits for an event of the stream whose data has a text.
      func event(_ name: String, with text: String) -> Bool {
        Guest.wait {
          stream.output.components(separatedBy: "\n\n").contains {
            $0.contains("event: \(name)\n") && $0.contains(text)
          }
        }
      }
      #expect(event("snapshot", with: #""name":"desk""#), "\(stream.output) \(service.error)")
      #expect(event("range", with: #""minor":2"#), "\(service.error)")
      let beacons = try get("beacons")?["beacons"] as? [[String: Any]] ?? []
      #expect(beacons.map { $0["minor"] as? Int } == [2])
      #expect(beacons.first?["uuid"] as? String == FaultTests.region)
      #expect(
        try Guest.wait {
          let regions = try get("regions")?["regions"] as? [[String: Any]]
          return regions?.first?["state"] as? String == "inside"
        })
      #expect(try receiver()?["state"] as? String == "scanning")
      #expect(
        try metric("beaconscan_receiver_state")
          .contains { $0.key.contains(#""scanning""#) && $0.value == 1 })
      let received = try sightings()
      let sent = try air.reportCount()
      #expect(received > 0 && received <= Double(sent))

      // The adapter is removed, and comes back.
      try FaultTests.Fault.removed.make(air)
      #expect(event("health", with: #""state":"removed""#), "\(service.error)")
      let lost = try receiver()
      #expect(lost?["state"] as? String == "removed" && lost?["receptionLost"] as? Bool == true)
      #expect((lost?["message"] as? String)?.isEmpty == false)
      let before = try sightings()
      try FaultTests.Fault.removed.fix(air)
      #expect(
        try Guest.wait { try receiver()?["state"] as? String == "scanning" }, "\(service.error)")
      #expect(try Guest.wait { try sightings() > before + 10 }, "\(service.error)")
      let transitions = try metric("beaconscan_transitions_total")
      #expect(transitions.values.sorted() == [0, 1], "\(transitions)")

      let ended = Guest.now
      service.send(SIGTERM)
      #expect(service.finish() == 0, "\(service.error)")
      print("ended \(Guest.now - ended) s after SIGTERM")
      #expect(stream.finish() == 0, "the stream was cut")
      #expect(!(try air.scan().isOn), "the scan goes on after the end")
      let history = try Guest.run(
        "beaconscan history --database \(Self.folder)/history.sqlite --format json")
      #expect(history.output.contains(#""type":"enter""#), "\(history.error)")
      #expect(history.output.contains(#""state":"removed""#), "\(history.output)")
      try Guest.run("rm -r \(Self.folder)")
      try air.stop()
    }
  }
}
