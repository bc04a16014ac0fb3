import Advertising
import Scanning
import Testing

@testable import beaconscan

/// The last line of a live run.
@Suite struct HealthTallyTests {
  private func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1e9))
  }

  private func health(
    _ condition: ScannerHealth.Condition, _ seconds: Double, _ number: Int? = 0, deaf: Bool = false
  ) -> ScannerHealth {
    ScannerHealth(
      condition, at: at(seconds), adapter: number.map { "hci\($0)" },
      address: number.map { BluetoothAddress(rawValue: 0x42 + UInt64($0)) }, isReceptionLost: deaf,
      sentence: "\(condition)")
  }

  private func sentence(_ changes: [ScannerHealth], until end: Double = 60) -> String {
    var tally = HealthTally()
    for change in changes { tally.note(change) }
    return tally.sentence("hci0", (at(0), at(end)))
  }

  @Test func withoutFaults() {
    #expect(
      sentence([health(.scanning, 0)])
        == "hci0 (00:00:00:00:00:42): scanning; no faults, never deaf in 60.0 s")
    #expect(sentence([]) == "hci0: never deaf in 60.0 s")
  }

  @Test func faultsAreSpellsNotChanges() {
    let changes = [
      health(.scanning, 0), health(.down, 10, deaf: true), health(.removed, 12, deaf: true),
      health(.scanning, 13), health(.quiet, 20), health(.notAnswering, 30, deaf: true),
      health(.scanning, 32.2),
    ]
    #expect(
      sentence(changes)
        == "hci0 (00:00:00:00:00:42): scanning; 2 faults, deaf for 5.2 s of 60.0 s")
  }

  @Test func deafToTheEnd() {
    #expect(
      sentence([health(.blocked, 0, deaf: true)])
        == "hci0 (00:00:00:00:00:42): blocked; 1 fault, deaf for 60.0 s of 60.0 s")
  }

  @Test func severalAdapters() {
    let changes = [
      health(.scanning, 0), health(.scanning, 0, 1), health(.removed, 10, 1),
      health(.down, 20, 0, deaf: true), health(.scanning, 21.5),
    ]
    #expect(
      sentence(changes)
        == "hci0 (00:00:00:00:00:42): scanning, 1 fault; hci1 (00:00:00:00:00:43): removed, 1 fault; "
        + "deaf for 1.5 s of 60.0 s")
    var tally = HealthTally()
    for change in changes { tally.note(change) }
    #expect(tally.trouble == "removed")
  }

  @Test func whatIsTheMatterWithAllEndsWithOne() {
    let changes = [health(.noBluetooth, 0, nil, deaf: true), health(.scanning, 10)]
    var tally = HealthTally()
    for change in changes { tally.note(change) }
    #expect(tally.trouble == nil)
    #expect(
      sentence(changes)
        == "all adapters: scanning, 1 fault; hci0 (00:00:00:00:00:42): scanning, no faults; "
        + "deaf for 10.0 s of 60.0 s")
  }

  /// Its name changes when it comes back, its address does not.
  @Test func anAdapterThatReturnsUnderAnotherNameIsTheSame() {
    var back = health(.scanning, 12)
    back.adapter = "hci1"
    #expect(
      sentence([health(.removed, 10, deaf: true), back])
        == "hci1 (00:00:00:00:00:42): scanning; 1 fault, deaf for 2.0 s of 60.0 s")
  }
}
