import Glibc
import HCIPackets
package import Scanning

package enum AdvertisingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  case noAdapter
  case condition(ScannerHealth.Condition, adapter: String)
  case noLowEnergy(String), noExtended(String), notPermitted(String), busy(String)
  /// The controller refused a command for another reason.
  case failed(CommandFailure)

  init(_ failure: CommandFailure) {
    switch failure {
    case .socket(let error):
      let adapter = error.adapter ?? "the adapter"
      switch error.condition {
      case .notPermitted: self = .notPermitted(adapter)
      case .systemError: self = .failed(failure)
      case let condition: self = .condition(condition, adapter: adapter)
      }
    case .refused(_, CommandResult.commandDisallowed, let adapter): self = .busy(adapter)
    case .unanswered(_, _, let adapter): self = .condition(.notAnswering, adapter: adapter)
    case .refused, .cutShort: self = .failed(failure)
    }
  }

  var isPassing: Bool {
    switch self {
    case .noAdapter, .condition, .busy, .failed: true
    case .noLowEnergy, .noExtended, .notPermitted: false
    }
  }

  /// Whether the adapter is off, but nobody switched it off.
  var isAbsence: Bool {
    switch self {
    case .noAdapter, .condition(.removed, _), .condition(.blocked, _), .condition(.noBluetooth, _):
      true
    default: false
    }
  }

  package var isPermission: Bool { if case .notPermitted = self { true } else { false } }

  package var description: String {
    switch self {
    case .noAdapter: "there is no Bluetooth adapter; plug one in, or ask beaconscan doctor"
    case .condition(let condition, let adapter): HealthSentence.of(condition, adapter: adapter)
    case .noLowEnergy(let adapter): "\(adapter) has no Bluetooth Low Energy; use another adapter"
    case .noExtended(let adapter):
      "\(adapter) has no extended advertising; leave out --extended, or use another adapter"
    case .notPermitted(let adapter):
      "no permission to advertise with \(adapter)"
        + (Doctor.permission().command.map { "; allow it: \($0)" } ?? "")
    case .busy(let adapter):
      "another program advertises with \(adapter), and it has one advert at a time; end that, or use "
        + "another adapter"
    case .failed(let failure): "\(failure); see what is wrong: beaconscan doctor"
    }
  }
}
