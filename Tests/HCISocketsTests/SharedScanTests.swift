import HCIPackets
import Scanning
import Testing

@testable import LiveScanning

/// A controller that other programs use too.
@Suite(.serialized) struct SharedScanTests {
  /// What bluetoothd's discovery does: off, other parameters, on with the duplicate filter.
  private func discover(_ model: inout ModelController) {
    model.other(HCICommand(.setScanEnable, [0, 0]))
    model.pass(0.1)
    model.other(HCICommand(.setScanParameters, [1, 0x12, 0, 0x12, 0, 1, 0]))
    model.other(HCICommand(.setScanEnable, [1, 1]))
  }

  @Test func aDiscoveryThatTakesOverIsNeverDisturbed() {
    var model = ModelController()
    model.open()
    model.pass(3)
    discover(&model)
    #expect(model.conditions == [.scanning, .stopped, .takenOver])
    #expect(model.reported.last?.detail == "each advert is reported once")
    #expect(model.reported.last?.isReceptionLost == true, "silence says nothing then")
    let switches = model.switches
    model.pass(30)
    model.control.request(.quarter, at: model.now)
    model.run()
    model.control.rest()
    model.run()
    #expect(model.switches == switches, "its scan is switched by it alone")
  }

  @Test func theScanIsOursAgainAfterTheDiscovery() {
    var model = ModelController()
    model.open()
    discover(&model)
    model.pass(10)
    model.other(HCICommand(.setScanEnable, [0, 0]))
    #expect(!model.isScanning)
    model.pass(0.5)
    #expect(model.isScanning)
    #expect(model.parameters == [0, 96, 0, 96, 0, 0, 0])
    #expect(model.conditions.last == .scanning)
  }

  @Test func aSecondScannerListensToTheFirstAndTakesOverWhenItEnds() {
    var model = ModelController()
    model.isScanning = true
    model.open()
    #expect(model.conditions == [.shared])
    #expect(model.control.ownership.needsCensus)
    model.control.setAlone(false, at: model.now)
    model.run()
    #expect(model.switches.isEmpty)
    model.pass(5)
    model.other(HCICommand(.setScanEnable, [0, 0]))
    model.pass(0.5)
    #expect(model.isScanning)
    #expect(model.conditions == [.shared, .scanning])
  }

  /// Until an advert comes twice, the other program's duplicate filter may be on.
  @Test func receptionIsLostUntilAnAdvertIsRepeated() {
    var model = ModelController()
    model.isScanning = true
    model.open()
    model.control.setAlone(false, at: model.now)
    #expect(model.control.state.isReceptionLost && model.control.proof.mayBeFiltered)
    // A crowd, of which each is reported once.
    for hash in 0..<1000 {
      model.now = model.now.advanced(by: 1_000_000)
      model.control.received(report: hash, at: model.now)
    }
    model.pass(5)
    #expect(model.control.state.isReceptionLost)
    // The crowd again.
    for hash in 0..<1000 { model.control.received(report: hash, at: model.now) }
    model.run()
    #expect(!model.control.state.isReceptionLost && !model.control.proof.mayBeFiltered)
    #expect(model.conditions == [.shared, .shared])
    #expect(model.reported.map(\.isReceptionLost) == [true, false])
  }

  /// What comes again after a long time may be new to the filter.
  @Test func aLateRepeatShowsNothing() {
    var finder = RepeatFinder()
    let start = MonotonicTime(nanoseconds: 0)
    let found = [0, 10, 19].map { seconds in
      finder.receive(7, at: start.advanced(by: seconds * 1_000_000_000))
    }
    #expect(found == [false, false, true])
  }

  @Test func aScanThatAProcessLeftWhenItDiedIsTakenOver() {
    var model = ModelController(isExtended: true)
    model.isScanning = true
    model.open()
    model.control.setAlone(true, at: model.now)
    model.run()
    #expect(model.switches == [false, true])
    #expect(model.conditions == [.shared, .scanning])
  }

  /// A tool switches the scan off, and on with its filter, and ends: nobody is there to end its scan.
  @Test func aScanThatAToolLeftWithItsFilterIsTakenBack() {
    var model = ModelController()
    model.open()
    model.pass(2)
    discover(&model)
    #expect(model.conditions.last == .takenOver)
    for _ in 0..<3 {
      model.now = model.now.advanced(by: 1_000_000_000)
      // As the adapter does it: a census follows at once, where one is due.
      model.control.advance(to: model.now)
      if model.control.ownership.needsCensus { model.control.setAlone(true, at: model.now) }
      model.run()
      if model.control.ownership.needsCensus { model.control.setAlone(true, at: model.now) }
      model.run()
    }
    #expect(model.conditions.last == .scanning && model.parameters == [0, 96, 0, 96, 0, 0, 0])
    model.control.rest()
    model.run()
    #expect(!model.isScanning, "it is ours to end")
  }

  /// Two processes start at the same moment, and the controller takes both commands: the scan may be either's.
  @Test func aScanThatTwoStartedAtOnceMayBeOurs() {
    var model = ModelController()
    model.open()
    model.pass(2)
    model.other(HCICommand(.setScanEnable, [0, 0]))
    #expect(!model.control.ownership.mayBeOurs)
    model.now = model.now.advanced(by: 500_000_000)
    model.control.advance(to: model.now)
    // Our parameters are taken; then the other's scan begins, and our own command arrives.
    model.step()
    let enable = model.control.queue.outgoing
    model.control.queue.sent(byOther: HCICommand(.setScanEnable, [1, 0]), at: model.now)
    model.control.done(byOther: HCICommand(.setScanEnable, [1, 0]), at: model.now)
    _ = model.control.queue.answered(.setScanEnable, at: model.now)
    model.isScanning = true
    #expect(enable.count == 1)
    model.run()
    #expect(model.control.phase == .shared && model.control.ownership.mayBeOurs)
    // The other is gone.
    model.control.ownership.adopt()
    model.control.rest()
    model.run()
    #expect(!model.isScanning)
  }

  @Test func theEndOfAnothersScanThatWasMissedIsFound() {
    var model = ModelController()
    model.isScanning = true
    model.open()
    model.control.setAlone(false, at: model.now)
    // It ends, and nobody says so.
    model.isScanning = false
    model.pass(45)
    #expect(model.isScanning)
    #expect(model.conditions == [.shared, .quiet, .quiet, .scanning])
    #expect(model.reported.map(\.isReceptionLost) == [true, true, false, false])
  }

  @Test func aControllerThatIsHeldToTheOtherCommandsIsGivenThose() {
    var model = ModelController(isExtended: true)
    model.isHeldToLegacy = true
    model.open()
    for _ in 0..<4 where model.control.ownership.needsCensus {
      model.control.setAlone(true, at: model.now)
      model.run()
    }
    #expect(model.isScanning)
    #expect(model.conditions == [.shared, .scanning])
  }

  @Test func whatIsRefusedAloneIsNotTriedWithoutEnd() {
    var model = ModelController()
    model.refused[.setScanParameters] = CommandResult.commandDisallowed
    model.refused[.setExtendedScanParameters] = CommandResult.commandDisallowed
    model.open()
    for _ in 0..<600 {
      if model.control.ownership.needsCensus { model.control.setAlone(true, at: model.now) }
      model.run()
      model.pass(0.1)
    }
    #expect(model.commands.count < 600, "\(model.commands.count) in a minute")
    #expect(model.conditions.contains(.refused))
    model.refused = [:]
    model.pass(2)
    #expect(model.isScanning)
  }

  @Test func whatAnotherScannerFailsToDoChangesNothing() {
    var model = ModelController()
    model.open()
    model.refused[.setScanEnable] = CommandResult.commandDisallowed
    model.other(HCICommand(.setScanParameters, [1, 16, 0, 16, 0, 0, 0]))
    model.other(HCICommand(.setScanEnable, [1, 0]))
    model.refused = [:]
    model.pass(5)
    #expect(model.conditions == [.scanning])
    #expect(model.switches == [true])
  }

  @Test func aFloodOfOthersCommandsTakesNoMemory() {
    var model = ModelController()
    model.open()
    for _ in 0..<1000 {
      model.control.queue.sent(byOther: HCICommand(.setScanEnable, [1, 0]), at: model.now)
    }
    #expect(model.control.queue.foreign.count == 16)
  }
}
