import HCIPackets
import Scanning
import Testing

@testable import LiveScanning

/// What goes wrong with a scan, and how it is mended.
@Suite struct ScanFaultTests {
  @Test func aSilentControllerIsNoticedAndTakenUpAgain() throws {
    var model = ModelController()
    model.open()
    model.pass(5)
    model.isMute = true
    let start = model.now
    model.pass(2.5, hearing: false)
    let change = try #require(model.reported.last)
    #expect(change.condition == .notAnswering)
    #expect(change.isReceptionLost)
    #expect(change.time >= start.advanced(by: -1_000_000_000))
    model.pass(60, hearing: false)
    #expect(model.conditions == [.scanning, .notAnswering], "it is told once")
    model.isMute = false
    model.pass(2.2)
    // It may be heard before it answers.
    #expect(model.conditions.last == .scanning)
    #expect(model.reported.count <= 4)
    #expect(model.isScanning)
  }

  @Test func whoReportsButDoesNotAnswerIsNotDeaf() {
    var model = ModelController()
    model.open()
    model.pass(5)
    model.isMute = true
    model.pass(3, hearing: true)
    #expect(model.conditions == [.scanning, .notAnswering])
    #expect(model.reported.last?.isReceptionLost == false)
  }

  @Test func aHardwareErrorIsOverWithTheKernelsReset() {
    var model = ModelController()
    model.open()
    model.control.hardwareError(0x42, at: model.now)
    model.isScanning = false
    model.run()
    #expect(model.reported.last?.condition == .hardwareError)
    #expect(model.reported.last?.detail == "code 0x42")
    model.other(HCICommand(.reset))
    model.pass(1)
    #expect(model.isScanning)
    #expect(model.conditions == [.scanning, .hardwareError, .scanning])
  }

  @Test func aResetByAnotherProgramIsMended() {
    var model = ModelController()
    model.open()
    model.other(HCICommand(.reset))
    #expect(!model.isScanning)
    model.pass(0.6)
    #expect(model.isScanning)
    #expect(model.conditions == [.scanning, .stopped, .scanning])
  }

  /// Also where packets were lost shortly before, or nothing was on air.
  @Test(arguments: [ScannerHealth.Condition.lossy, .quiet])
  func aScanThatAnotherProgramStopsIsReported(state: ScannerHealth.Condition) {
    var model = ModelController()
    model.open()
    if state == .quiet {
      model.pass(31, hearing: false)
    } else {
      model.pass(1)
      model.control.receptionLost(
        from: model.now.advanced(by: -500_000_000), to: model.now, detail: "3 packets lost")
    }
    model.run()
    #expect(model.conditions.last == state)
    model.other(HCICommand(.setScanEnable, [0, 0]))
    model.pass(0.6)
    #expect(model.isScanning)
    #expect(model.conditions.suffix(3) == [state, .stopped, .scanning])
  }

  @Test func silenceIsToldOnceAndTheScanRestartedNowAndThen() {
    var model = ModelController()
    model.open()
    model.pass(29, hearing: false)
    #expect(model.conditions == [.scanning])
    model.pass(2, hearing: false)
    #expect(model.conditions == [.scanning, .quiet])
    #expect(model.reported.last?.isReceptionLost == false, "an empty room is no deafness")
    let before = model.switches.count
    model.pass(3600, hearing: false)
    #expect(model.conditions.filter { $0 == .quiet }.count == 1)
    let restarts = (model.switches.count - before) / 2
    #expect((5...15).contains(restarts), "\(restarts) in an hour")
    model.pass(1, hearing: true)
    #expect(model.conditions.last == .scanning)
  }

  @Test func anAdapterThatGoesAndComesIsToldOnceEach() {
    var model = ModelController()
    model.open()
    for _ in 0..<3 {
      model.control.closed(.removed, since: model.now)
      model.isScanning = false
      model.pass(5)
      model.control.closed(.removed, since: model.now)
      model.control.opened(at: model.now)
      model.run()
    }
    #expect(
      model.conditions
        == [.scanning, .removed, .scanning, .removed, .scanning, .removed, .scanning])
  }
}
