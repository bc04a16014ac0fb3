import BeaconTesting
import Scanning
import Testing

@Suite struct ScriptedScannerTests {
  /// A client may demand so late that the script's end has passed.
  @Test func anEndThatPassedDuringARestIsReported() throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.report(.noBluetooth, at: 1, adapter: nil)
    scanner.finish(at: 2)
    scanner.rest()
    scanner.clock.advance(by: 3)
    var sightings: [Sighting] = []
    let progress = try scanner.receive(for: .ranging, until: nil, into: &sightings)
    #expect(progress.isOver)
    #expect(progress.health.map(\.condition) == [.noBluetooth])
  }
}
