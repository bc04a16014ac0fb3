import HCIPackets
import Scanning
import Testing

@testable import LiveScanning

/// A controller of a few lines, and a hand-moved clock: a scan control is driven against it, beside what other
/// programs do.
struct ModelController {
  var control = ScanControl()
  var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
  var isScanning = false
  var parameters: [UInt8]?
  var isExtended: Bool
  var isMute = false
  /// How long before the reading the kernel received an answer, in nanoseconds.
  var readingDelay: Int64 = 0
  var supportsCoded = false
  /// Whether it was given legacy commands, and disallows the others.
  var isHeldToLegacy = false
  /// How many times the scan was switched on and off, by whomever.
  private(set) var switches: [Bool] = []
  /// What it refuses, and with which error.
  var refused: [Opcode: UInt8] = [:]
  /// What the control told.
  private(set) var reported: [ReportedState.Change] = []
  private(set) var commands: [HCICommand] = []
  /// Whether the control sent a command after every answer, which would never end.
  private var isEndless = false

  init(isExtended: Bool = false) {
    self.isExtended = isExtended
  }

  var set: ScanCommandSet { isExtended && !isHeldToLegacy ? .extended : .legacy }
  var conditions: [ScannerHealth.Condition] { reported.map(\.condition) }

  /// The adapter is there, and somebody listens.
  mutating func open(_ parameters: ScanParameters = .full) {
    control.request(parameters, at: now)
    control.opened(at: now)
    run()
  }

  /// Answers every command that was sent.
  mutating func run() {
    var left = 1000
    while !control.queue.outgoing.isEmpty, !isEndless {
      step()
      left -= 1
      if left == 0 {
        isEndless = true
        Issue.record("the control sends a command after every answer")
      }
    }
    reported += control.state.removeChanges()
  }

  /// Forgets what was told and sent, so that a long run takes no memory of its own.
  mutating func forget() {
    reported = []
    commands = []
    switches = []
  }

  /// Answers one command.
  mutating func step() {
    let command = control.queue.outgoing.removeFirst()
    commands.append(command)
    if isMute { return }
    let (status, values) = carryOut(command)
    answer(command.opcode, status, values)
  }

  /// Another program sends a command.
  mutating func other(_ command: HCICommand) {
    control.queue.sent(byOther: command, at: now)
    let (status, values) = carryOut(command)
    answer(command.opcode, status, values)
    run()
  }

  /// Lets seconds pass, ten steps each.
  mutating func pass(_ seconds: Double, hearing: Bool = true) {
    for _ in 0..<Int((seconds * 10).rounded()) {
      now = now.advanced(by: 100_000_000)
      if hearing, isScanning { control.received(at: now) }
      control.advance(to: now)
      run()
    }
  }

  private mutating func answer(_ opcode: Opcode, _ status: UInt8, _ values: [UInt8]) {
    let bytes: [UInt8] =
      [
        0x0E, UInt8(4 + values.count), 1, UInt8(opcode.rawValue & 0xFF),
        UInt8(opcode.rawValue >> 8),
      ]
      + [status] + values
    // Only initialised integers, which stay.
    guard let result = unsafe CommandResult(bytes.span.bytes) else { return }
    control.answered(result, received: now.advanced(by: -readingDelay), at: now)
  }

  private mutating func carryOut(_ command: HCICommand) -> (status: UInt8, values: [UInt8]) {
    if let error = refused[command.opcode] { return (error, []) }
    let extended: [Opcode] = [.setExtendedScanParameters, .setExtendedScanEnable]
    if isHeldToLegacy, extended.contains(command.opcode) {
      return (CommandResult.commandDisallowed, [])
    }
    switch command.opcode {
    case .reset:
      isScanning = false
    case .readLocalSupportedCommands:
      var bytes = [UInt8](repeating: 0, count: 64)
      if isExtended { bytes[37] = 0x60 }
      return (0, bytes)
    case .readLocalLEFeatures:
      return (0, [0, supportsCoded ? 0x08 : 0, 0, 0, 0, 0, 0, 0])
    case set.parametersOpcode:
      if isScanning { return (CommandResult.commandDisallowed, []) }
      parameters = command.parameters
    case set.enableOpcode:
      isScanning = command.parameters[0] == 1
      switches.append(isScanning)
    case .readLocalVersion: break
    default: return (CommandResult.unknownCommand, [])
    }
    return (0, [])
  }
}

extension ScanParameters {
  static let full = ScanParameters(interval: 96, window: 96)
  static let quarter = ScanParameters(interval: 384, window: 96)
}
