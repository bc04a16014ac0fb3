import Foundation
import Testing

extension InGuest {
  /// The same beacons through raw HCI on one adapter, and at the same time through bluetoothd on another one.
  @Suite struct BothBackendsTests {
    /// Two adapters that receive the same, and bluetoothd.
    private struct Place {
      let air: VirtualController
      let service: BlueZ

      init() throws {
        air = try VirtualController(
          #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#,
          #"{"plug": "b", "addr": "00:AA:01:00:00:43"}"#)
        service = try BlueZ("-E")
      }

      /// A subcommand through raw HCI.
      static func hci(_ subcommand: String) -> [String] {
        [subcommand, "--backend", "hci", "--adapter", "00:AA:01:00:00:42"]
      }

      /// The same through bluetoothd.
      static func bluez(_ subcommand: String) -> [String] {
        [subcommand, "--backend", "bluez", "--adapter", "00:AA:01:00:00:43"]
      }

      /// Starts a subcommand both ways and waits until both receive.
      func start(_ subcommand: String, _ arguments: String...) throws -> [LiveCommand] {
        let commands = [
          try LiveCommand(Self.hci(subcommand) + arguments, by: .scanner),
          try LiveCommand(Self.bluez(subcommand) + arguments, by: .person),
        ]
        for command in commands {
          let receives = command.line("health") { $0["state"] == "scanning" }
          try #require(receives != nil, "\(command.health()) \(command.error)")
        }
        return commands
      }

      func stop() throws {
        service.stop()
        try air.stop()
      }
    }

    /// A beacon that comes and goes enters and exits the same.
    @Test func entersAndExits() throws {
      let place = try Place()
      try place.air.perform(
        #"{"id": "wall", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 1, "rssi": -75}"#)
      let commands = try place.start(
        "monitor", "--region", "wall=\(FaultTests.region):1:1", "--region",
        "visitor=\(FaultTests.region):1:100", "--exit-after", "4")
      for turn in 1...2 {
        let began = try place.air.perform(
          #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 100, "#
            + #""rssi": [[0, null], [0, -80], [1, -60], [2, -80], [2, null]]}"#)
        for command in commands {
          let exit = command.line("exit", since: began) { $0["region"] == "visitor" }
          try #require(exit != nil, "turn \(turn): no exit")
        }
      }
      func events(_ command: LiveCommand) -> [LiveCommand.Line] {
        command.lines.filter { ["enter", "exit"].contains($0.type) && $0["region"] == "visitor" }
      }
      let (raw, bus) = (events(commands[0]), events(commands[1]))
      #expect(raw.map(\.type) == ["enter", "exit", "enter", "exit"])
      #expect(bus.map(\.type) == raw.map(\.type))
      for command in commands {
        #expect(command.lines("enter").count { $0["region"] == "wall" } == 1)
        #expect(command.lines("exit").count { $0["region"] == "wall" } == 0)
      }
      print(
        "events through bluetoothd after those of raw HCI, in s:",
        zip(raw, bus).map { ($1.wallTime ?? .nan) - ($0.wallTime ?? .nan) })
      for command in commands { #expect(command.interrupt() == 0) }
      try place.stop()
    }

    /// A beacon that stands at three distances is ranged the same: the medians differ by less than a quarter.
    @Test func distances() throws {
      let place = try Place()
      let commands = try place.start("range", "--region", "desk=\(FaultTests.region)")
      let began = try place.air.perform(
        #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 2, "power": -59,"#
          + #" "rssi": [[0, -59], [8, -59], [8, -39], [16, -39], [16, -79], [24, -79]], "noise": 2}"#
      )
      sleep(25)
      let shift = try place.air.wallClockShift
      func median(_ command: LiveCommand, _ span: ClosedRange<Double>) -> Double? {
        let values = command.lines("range", since: began).filter { line in
          line.wallTime.map { span.contains($0 - shift - began) } ?? false
        }.compactMap { line in
          (line.fields["beacons"] as? [[String: Any]])?.first?["distance"] as? Double
        }.sorted()
        return values.isEmpty ? nil : values[values.count / 2]
      }
      for (span, truth) in [(5.0...8.0, 1.0), (13...16, 0.1), (21...24, 10)] {
        let raw = try #require(median(commands[0], span))
        let bus = try #require(median(commands[1], span))
        print("at \(truth) m: \(raw) m through raw HCI, \(bus) m through bluetoothd")
        #expect(abs(log(bus / raw)) < log(1.25), "\(raw) m and \(bus) m at \(truth) m")
      }
      for command in commands { #expect(command.interrupt() == 0) }
      try place.stop()
    }

    /// Sightings in a second, side by side.
    @Test func rates() throws {
      let place = try Place()
      let files = ["hci", "bluez"].map { "/tmp/rates-\($0).jsonl" }
      func scan(_ user: LiveCommand.User, _ words: [String], _ path: String) throws -> Child {
        let line = user.prefix + [Guest.beaconscan] + words + ["--format", "json"]
        return try Child(line[0], Array(line.dropFirst()), output: .path(path))
      }
      let commands = [
        try scan(.scanner, Place.hci("scan"), files[0]),
        try scan(.person, Place.bluez("scan"), files[1]),
      ]
      for controller in ["a", "b"] {
        try #require(try Guest.wait { try place.air.scan(of: controller).isOn })
      }
      print("In a second: reported by the controller, raw HCI, bluetoothd")
      let seconds = 4.0
      // The emulated air and bluetoothd take minutes for a thousand adverts a second on two adapters.
      for beacons in Guest.isLong ? [1, 10, 100] : [10] {
        for interval in Guest.isLong ? [1000, 100] : [100] {
          let before = try files.map(Tally.sightingCount) + ["a", "b"].map(reports)
          try place.air.perform(
            #"{"id": "r", "count": \#(beacons), "interval": \#(interval), "jitter": 0, "noise": 3}"#
          )
          usleep(UInt32(seconds * 1e6))
          try place.air.perform(#"{"id": "r", "count": \#(beacons), "off": true}"#)
          let sent = try ["a", "b"].map(reports)
          func received() throws -> [Int] {
            try zip(files.map(Tally.sightingCount), before).map { $0 - $1 }
          }
          #expect(try Guest.wait { try received()[0] >= sent[0] - before[2] })
          if beacons < 100 {
            #expect(
              try Guest.wait { try received()[1] * 2 >= sent[1] - before[3] },
              "bluetoothd reports less than half of \(sent[1] - before[3])")
          }
          usleep(500_000)
          let rates = try [sent[1] - before[3]] + received()
          let cells = rates.map { String(format: "%10.1f", Double($0) / seconds) }
          print("\(beacons) beacons, \(interval) ms:", cells.joined())
        }
      }
      for command in commands {
        command.send(SIGINT)
        #expect(command.finish() == 0)
      }
      try place.stop()

      /// How many reports a controller has sent so far.
      func reports(_ controller: String) throws -> Int {
        try place.air.sync()
        let count = try Guest.run(
          #"grep '^{"type":"report"' \#(place.air.path) | grep -c '"controller":"\#(controller)"'"#)
        return Int(count.output.dropLast()) ?? 0
      }
    }
  }
}
