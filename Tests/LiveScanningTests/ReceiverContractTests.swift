import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// The choice of a way to receive keeps the contract of a source, also where a fault ends, or begins, while it rests.
@Suite(.blocking, .timeLimit(.minutes(10))) struct ReceiverContractTests {
  let hci = FaultyScanner("hci")
  let bluez = FaultyScanner("bluez")

  private func check(
    _ view: BlueZView, whileResting change: () -> Void = {}
  ) throws -> [ScannerHealth.Condition] {
    let scanner = LiveScanner(
      LiveScanner.Configuration(), hci: hci, bluez: bluez, view: { _ in view })
    let (before, after) = try SourceContract.check(
      scanner, for: .ranging, time: \.time, whileResting: change)
    return [before.condition, after.condition]
  }

  @Test func aStateIsReportedAnew() throws {
    #expect(try check(BackendChoiceTests.view()) == [.scanning, .scanning])
  }

  @Test func aFaultThatEndedIsToldNoMore() throws {
    hci.fail()
    #expect(try check(BackendChoiceTests.absent) { hci.recover() } == [.takenOver, .scanning])
  }

  @Test func aFaultThatBeganIsTold() throws {
    #expect(
      try check(BackendChoiceTests.absent) { hci.fail() } == [.scanning, .takenOver])
  }

  @Test func theOtherWayAfterTheRestReportsItsOwnState() throws {
    #expect(
      try check(BackendChoiceTests.view()) {
        hci.setAvailability(.notPermitted("no right"))
        bluez.fail()
      } == [.scanning, .takenOver])
  }
}
