package import Adapters
import Glibc
import HCIPackets
import Scanning

/// Why an advert cannot be put on air.
package enum AdvertisingFailure: Error, Hashable, Sendable {
  /// This system has no Bluetooth, or hides it.
  case noBluetooth
  /// There is no adapter, or not that one.
  case noAdapter(String?)
  /// The adapter is switched off.
  case down(String)
  /// The adapter is blocked by rfkill.
  case blocked(String)
  /// The adapter has no Bluetooth Low Energy.
  case noLowEnergy(String)
  /// The adapter has no extended advertising.
  case noExtended(String)
  /// This process may not.
  case notPermitted(String)
  /// Another program advertises.
  case busy(String)
  /// The controller does not answer.
  case mute(String)
  /// The controller refused a command, for another reason.
  case failed(CommandFailure)

  /// What a command's failure means for an advert.
  init(_ failure: CommandFailure) {
    switch failure {
    case .socket(let error):
      let adapter = error.adapter ?? "the adapter"
      switch error.condition {
      case .notPermitted: self = .notPermitted(adapter)
      case .down: self = .down(adapter)
      case .removed: self = .noAdapter(adapter)
      case .noBluetooth: self = .noBluetooth
      default: self = .failed(failure)
      }
    case .refused(_, CommandResult.commandDisallowed, let adapter): self = .busy(adapter)
    case .unanswered(_, _, let adapter): self = .mute(adapter)
    case .refused, .cutShort: self = .failed(failure)
    }
  }

  /// Whether it may end by itself.
  var isPassing: Bool {
    switch self {
    case .noAdapter, .down, .blocked, .busy, .mute, .failed, .noBluetooth: true
    case .noLowEnergy, .noExtended, .notPermitted: false
    }
  }

  /// Whether the adapter is off for a reason that is not somebody's switching it off.
  var isAbsence: Bool {
    switch self {
    case .noAdapter, .blocked, .noBluetooth: true
    default: false
    }
  }

  /// Whether it is a matter of permission.
  package var isPermission: Bool {
    if case .notPermitted = self { true } else { false }
  }
}

extension AdvertisingFailure: CustomStringConvertible {
  /// What, where, and what to do.
  package var description: String {
    switch self {
    case .noBluetooth: HealthSentence.of(.noBluetooth, adapter: "")
    case .noAdapter(nil): "there is no Bluetooth adapter; plug one in, or ask beaconscan doctor"
    case .noAdapter(let adapter?): HealthSentence.of(.removed, adapter: adapter)
    case .down(let adapter): HealthSentence.of(.down, adapter: adapter)
    case .blocked(let adapter): HealthSentence.of(.blocked, adapter: adapter)
    case .noLowEnergy(let adapter): "\(adapter) has no Bluetooth Low Energy; use another adapter"
    case .noExtended(let adapter):
      "\(adapter) has no extended advertising; leave out --extended, or use another adapter"
    case .notPermitted(let adapter):
      "no permission to advertise with \(adapter)"
        + (Doctor.permission().command.map { "; allow it: \($0)" } ?? "")
    case .busy(let adapter):
      "another program advertises with \(adapter), and it has one advert at a time; end that, or use "
        + "another adapter"
    case .mute(let adapter): HealthSentence.of(.notAnswering, adapter: adapter)
    case .failed(let failure): "\(failure); see what is wrong: beaconscan doctor"
    }
  }
}
