import Bytes
import HCIPackets

/// The requested scan, and the commands with which the controller runs it.
struct ScanSetup: Sendable {
  enum Step: Hashable, Sendable {
    case parameters, on, off
  }

  var wanted: ScanParameters?
  /// The commands that the controller accepts; `nil` before it was queried.
  private(set) var commandSet: ScanCommandSet?
  private var supportsCodedPHY: Bool?

  var lacksCodedPHY: Bool { wanted?.usesCodedPHY == true && supportsCodedPHY != true }

  var parameters: HCICommand? {
    guard let wanted, let commandSet else { return nil }
    return commandSet.set(wanted)
  }

  var off: HCICommand? { commandSet?.enable(false) }

  var on: HCICommand? { commandSet?.enable(true) }

  func start(endingOurs: Bool) -> [HCICommand] {
    guard var parameters = wanted else { return [] }
    guard let commandSet else {
      return [HCICommand(.readLocalSupportedCommands), HCICommand(.readLocalLEFeatures)]
    }
    parameters.usesCodedPHY = parameters.usesCodedPHY && supportsCodedPHY == true
    return (endingOurs ? [commandSet.enable(false)] : [])
      + [commandSet.set(parameters), commandSet.enable(true)]
  }

  func isSwitch(_ command: HCICommand) -> Bool { command.opcode == commandSet?.enableOpcode }

  func step(of command: HCICommand) -> Step? {
    switch command.opcode {
    case commandSet?.parametersOpcode: .parameters
    case commandSet?.enableOpcode: command.parameters.first == 1 ? .on : .off
    default: nil
    }
  }

  /// Receives the answer to a query of the controller; returns whether all were answered.
  mutating func answered(_ result: borrowing CommandResult) -> Bool {
    switch result.opcode {
    case .readLocalSupportedCommands:
      let bytes = result.parameters.array
      commandSet = ScanCommandSet(supportedCommands: result.status == 0 ? bytes : [])
      return false
    case .readLocalLEFeatures:
      // LE Coded PHY is bit 11 (Vol 6, Part B, §4.6).
      supportsCodedPHY =
        result.status == 0 && result.parameters.byteCount > 1
        && result.parameters.littleEndian(UInt8.self, at: 1) & 0x08 != 0
      return true
    default: return false
    }
  }

  mutating func useOther() { commandSet = commandSet == .extended ? .legacy : .extended }

  mutating func forget() { commandSet = nil }
}
