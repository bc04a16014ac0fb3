import HCIPackets
import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// A day in which everything happens, again and again.
@Suite struct ScanDayTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>, [false, true])
  func scanningIsAlwaysTakenUpAgain(seed: UInt64, isExtended: Bool) {
    var random = SplitMix64(seed: seed)
    var model = ModelController(isExtended: isExtended)
    model.open()
    var now = model.now
    let end = now.advanced(by: 86_400_000_000_000)
    while now < end {
      disturb(&model, with: &random)
      // All is well again, and a little later so is the scan.
      model.isMute = false
      model.refused = [:]
      if model.control.phase == .unusable { model.control.opened(at: model.now) }
      if model.control.setup.wanted == nil { model.control.request(.full, at: model.now) }
      model.run()
      // By then it has found that another program's scan is gone, too.
      model.isScanning = model.isScanning && model.control.ownership.isOurs
      model.pass(700, hearing: false)
      model.pass(1)
      #expect(model.isScanning, "\(model.control.phase) \(model.control.state.condition as Any)")
      #expect(model.control.phase == .scanning)
      #expect(model.control.state.condition == .scanning)
      #expect(model.control.queue.outgoing.isEmpty && model.control.queue.waiting.count <= 3)
      #expect(model.control.queue.foreign.count <= CommandQueue.maximumForeign)
      if !model.isScanning { return }
      model.pass(Double.random(in: 0...300, using: &random))
      now = model.now
      model.forget()
    }
  }

  private func disturb(_ model: inout ModelController, with random: inout SplitMix64) {
    let seconds = Double.random(in: 0...60, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: model.isMute = true
    case 1: model.control.hardwareError(.random(in: 0...255, using: &random), at: model.now)
    case 2: model.control.closed(.down, since: model.now)
    case 3: model.control.closed(.removed, since: model.now)
    case 4: model.refused[model.set.enableOpcode] = .random(in: 1...255, using: &random)
    case 5: model.refused[model.set.parametersOpcode] = .random(in: 1...255, using: &random)
    case 6: model.control.rest()
    case 7: model.other(HCICommand(.reset))
    default:
      model.other(model.set.enable(false))
      model.other(HCICommand(model.set.enableOpcode, [1, 1, 0, 0, 0, 0]))
    }
    if model.control.phase == .unusable { model.isScanning = false }
    model.pass(seconds, hearing: .random(using: &random))
  }
}
