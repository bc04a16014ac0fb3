import HCIPackets
import Scanning
import Testing

@testable import LiveScanning

/// A scan that is ours.
@Suite struct ScanControlTests {
  @Test(arguments: [false, true])
  func startsAsTheControllerCan(isExtended: Bool) {
    var model = ModelController(isExtended: isExtended)
    model.open()
    #expect(model.isScanning)
    #expect(model.conditions == [.scanning])
    #expect(
      model.parameters
        == (isExtended ? [0, 0, 1, 0, 96, 0, 96, 0] : [0, 96, 0, 96, 0, 0, 0]))
    // The duplicate filter is off.
    #expect(model.commands.last?.parameters == (isExtended ? [1, 0, 0, 0, 0, 0] : [1, 0]))
  }

  /// Adverts that are read together with the answer came after it, so the state begins with the answer.
  @Test func receivesFromItsAnswerOn() {
    var model = ModelController()
    model.readingDelay = 5_000_000
    model.open()
    #expect(model.reported.map(\.time) == [model.now.advanced(by: -5_000_000)])
  }

  @Test func listensOnTheCodedPHYWhereThereIsOne() {
    var wanted = ScanParameters.full
    wanted.usesCodedPHY = true
    for supportsCoded in [true, false] {
      var model = ModelController(isExtended: true)
      model.supportsCoded = supportsCoded
      model.open(wanted)
      #expect(model.parameters?[2] == (supportsCoded ? 0x05 : 0x01))
      #expect(model.isScanning)
    }
  }

  @Test func anotherDutyIsSetWithoutAWord() {
    var model = ModelController()
    model.open()
    model.control.request(.quarter, at: model.now)
    model.run()
    #expect(model.isScanning)
    #expect(model.parameters == [0, 0x80, 0x01, 96, 0, 0, 0])
    #expect(model.switches == [true, false, true])
    #expect(model.conditions == [.scanning])
    // Asked for the same again, it does nothing.
    model.control.request(.quarter, at: model.now)
    #expect(model.control.queue.outgoing.isEmpty)
  }

  @Test func restsAndGoesOn() {
    var model = ModelController()
    model.open()
    model.control.rest()
    model.run()
    #expect(!model.isScanning)
    model.pass(10)
    #expect(!model.isScanning, "nobody listens")
    model.control.request(.full, at: model.now)
    model.run()
    #expect(model.isScanning)
    #expect(model.conditions == [.scanning])
  }

  @Test func aRestBeforeTheAnswerSwitchesOffToo() {
    var model = ModelController()
    model.control.request(.full, at: model.now)
    model.control.opened(at: model.now)
    for _ in 0..<100 where model.control.queue.pending?.command.opcode != .setScanEnable {
      model.step()
    }
    model.control.rest()
    model.run()
    #expect(!model.isScanning)
  }

  @Test func aControllerThatSaysNoToTheNewCommandsIsGivenTheOld() {
    var model = ModelController(isExtended: true)
    model.refused[.setExtendedScanParameters] = CommandResult.unknownCommand
    model.open()
    #expect(model.commands.last?.opcode == .setScanParameters)
  }

  @Test func aRefusalIsToldOnceAndTriedAgain() {
    var model = ModelController()
    model.refused[.setScanParameters] = 0x12
    model.open()
    model.pass(20)
    #expect(model.conditions == [.refused])
    #expect(model.reported.first?.detail == "error 0x12")
    model.refused = [:]
    model.pass(1.6)
    #expect(model.isScanning)
    #expect(model.conditions == [.refused, .scanning])
  }

  @Test func noMoreThanOneCommandWaitsForItsAnswer() {
    var model = ModelController()
    model.isMute = true
    model.open()
    model.pass(60)
    // The kernel gives each up after two seconds.
    #expect((25...32).contains(model.commands.count), "\(model.commands.count)")
  }
}
