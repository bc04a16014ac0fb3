import Foundation
import Scanning
import Testing

@testable import Positioning
@testable import Records

/// What `beaconscan locate` writes at a daemon stands in Tests/Outputs, where it is compared with the schema.
@Suite struct LocateLineTests {
  @Test func theLinesAtADaemonAreThoseOfTheOutputs() throws {
    let start = WallClockTime(nanoseconds: 1_767_225_600_000_000_000)
    func health(
      _ condition: LocationHealth.Condition, of subject: LocationHealth.Subject,
      _ sentence: String, after seconds: Int64
    ) -> [UInt8] {
      let health = LocationHealth(
        condition, of: subject, at: MonotonicTime(nanoseconds: 0), sentence: sentence)
      var bytes: [UInt8] = []
      LocationHealth.record.appendLine(
        (health, start.advanced(by: seconds * 1_000_000_000)), to: &bytes)
      return bytes
    }
    var bytes = health(
      .notRunning, of: .locations,
      "gpsd does not run; start it: sudo systemctl start gpsd.socket", after: 0)
    bytes += health(.receiving, of: .headings, "iio-sensor-proxy delivers headings", after: 1)
    let heading = Heading(
      time: MonotonicTime(nanoseconds: 0), timestamp: start.advanced(by: 2_000_000_000),
      magneticHeading: 87.5, trueHeading: 92.1254, accuracy: nil, field: [21.25, 0, -43.5])
    let line = LocateLine.heading(heading)
    line.record.appendLine(line, to: &bytes)
    let file = URL(filePath: #filePath).resolvingSymlinksInPath()
      .appending(path: "../../Outputs/locate.jsonl").standardizedFileURL
    #expect(try String(decoding: bytes, as: UTF8.self) == String(contentsOf: file, encoding: .utf8))
  }
}
