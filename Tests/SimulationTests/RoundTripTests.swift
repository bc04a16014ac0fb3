import Advertising
import CaptureFiles
import Scanning
import Simulation
import Testing

/// What the capture reader finds in a recording is what the truth says.
@Suite struct RoundTripTests {
  private static let beacons = [
    Scenes.beacon(),
    Scenes.beacon(#""pdu": "ind","#, id: "b", minor: 2, course: #""spread": [1, 1]"#),
    Scenes.beacon(#""pdu": "scan","addressType": "public","#, id: "c", minor: 3),
    Scenes.beacon(#""signal": false,"#, id: "d", minor: 4),
    Scenes.beacon(#""count": 20,"#, id: "e", minor: 10, course: #""spread": [1, 30]"#),
    Scenes.beacon(id: "f", minor: 50, course: #""rssi": [[0, -40], [20, -110]]"#),
  ]
  private static let extended = [
    Scenes.beacon(#""pdu": "extended","#, id: "x", minor: 60),
    Scenes.beacon(#""pdu": "extended", "extraBytes": 199,"#, id: "y", minor: 61),
    Scenes.beacon(#""pdu": "extended", "extraBytes": 200,"#, id: "z", minor: 62),
    Scenes.beacon(
      #""pdu": "extended", "extraBytes": 1600, "count": 30,"#, id: "w", minor: 70,
      interval: "20"),
  ]

  @Test(
    arguments: CaptureWriter.Format.allCases,
    [
      #"{}"#, #"{"reportsPerEvent": 3}"#, #"{"reportsPerEvent": 25}"#, #"{"extended": true}"#,
      #"{"extended": true, "reportsPerEvent": 6}"#,
    ])
  func readsWhatTheTruthSays(_ capture: CaptureWriter.Format, _ format: String) throws {
    let isExtended = format.contains("extended")
    let beacons = Self.beacons + (isExtended ? Self.extended : [])
    let scenario = try Scenes.parse(
      Scenes.scenario(
        format: format, beacons: "[\(beacons.joined(separator: ","))]", clutter: Scenes.clutter))
    let simulated = Simulator.run(scenario, format: capture)
    let (sightings, counts) = try Scenes.readBack(simulated.recording)
    #expect(sightings == Scenes.lines("sighting", of: simulated.truth))
    #expect(sightings.count > 3000)
    #expect(sightings.contains { $0.contains(#""rssi":null"#) })
    // No decoder may find the decoys.
    #expect(!sightings.contains { $0.contains("DEC0DEC0") })
    #expect(counts[.malformedADStructure] > 50)
    #expect(counts[.malformedIBeacon] > 100)
    #expect(counts[.truncatedPacket] > 10)
    #expect(counts[.malformedPacket] > 10)
    #expect((counts[.incompleteReport] > 10) == isExtended)
  }

  @Test func severalReportsShareAnEvent() throws {
    let beacons = "[\(Self.beacons.joined(separator: ","))]"
    func advertising(_ most: Int) throws -> ScanCounts {
      let scenario = try Scenes.parse(
        Scenes.scenario(format: #"{"reportsPerEvent": \#(most)}"#, beacons: beacons))
      return try Scenes.readBack(Simulator.run(scenario, format: .btsnoop).recording).counts
    }
    let single = try advertising(1)
    #expect(single.reports == single.advertisingPackets)
    let several = try advertising(4)
    #expect(several.reports > several.advertisingPackets * 5 / 4)
  }

  @Test func longAdvertsComeInFragments() throws {
    let scenario = try Scenes.parse(
      Scenes.scenario(
        format: #"{"extended": true}"#,
        beacons: "["
          + Scenes.beacon(#""pdu": "extended", "extraBytes": 1600,"#, interval: "1000") + "]"))
    let simulated = Simulator.run(scenario, format: .pcapng)
    let (sightings, counts) = try Scenes.readBack(simulated.recording)
    #expect(counts.advertisingPackets == sightings.count * 8)
    #expect(counts[.incompleteReport] == 0)
  }

  @Test func aCaptureBeginsAndEndsWithTheHostsCommands() throws {
    let scenario = try Scenes.parse(Scenes.scenario(beacons: "[]"))
    let recording = Simulator.run(scenario, format: .btsnoop).recording
    // After the file's header and the record's: HCI_Reset.
    #expect(Array(recording[40..<44]) == [0x01, 0x03, 0x0C, 0x00])
    // HCI_LE_Set_Scan_Enable off, and its Command Complete.
    #expect(Array(recording.suffix(37).prefix(6)) == [0x01, 0x0C, 0x20, 0x02, 0x00, 0x00])
    #expect(Array(recording.suffix(7)) == [0x04, 0x0E, 0x04, 0x01, 0x0C, 0x20, 0x00])
  }
}
