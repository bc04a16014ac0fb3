import Adapters
import Glibc
import HCIPackets
import HCISockets

/// An adapter in the words of the command's output.
struct AdapterDescription {
  let radio: HostView.Radio

  init(_ radio: HostView.Radio) { self.radio = radio }

  /// How it is.
  var state: String {
    switch radio.adapter.block {
    case .hard: "hard-blocked"
    case .soft: "soft-blocked"
    case nil:
      radio.isHeld
        ? "held" : !radio.adapter.isUp ? "down" : radio.report.isMute ? "not-answering" : "up"
    }
  }

  /// Whether it has Bluetooth Low Energy. Before it was on for the first time, nobody knows.
  var lowEnergy: Bool? {
    let isAsked = radio.adapter.features.contains { $0 != 0 }
    return isAsked ? radio.adapter.supportsLE : nil
  }

  /// Whether it receives on the Coded PHY.
  var codedPHY: Bool? { radio.report.features.map { $0.contains(.codedPHY) } }

  /// Why not all of it is known; `nil` where all is.
  var unknown: String? {
    if radio.adapter.block != nil { return "it is blocked" }
    if radio.isHeld { return "a program has it for itself" }
    if !radio.adapter.isUp { return "it is switched off" }
    switch radio.report.failure {
    case nil: return nil
    case .socket(let error) where error.errno == EPERM || error.errno == EACCES:
      return "no permission to ask for its Low Energy features"
        + (Doctor.permission().command.map { "; allow it: \($0)" } ?? "")
    case .socket(let error): return "\(error)"
    case .unanswered: return "its controller does not answer"
    case .refused, .cutShort: return radio.report.failure.map { "\($0)" }
    }
  }
}
