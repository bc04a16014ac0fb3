package import Scanning

/// The sentences about a receiver state, for people: what happened, where, and what fixes it.
package enum HealthSentence {
  /// Returns the sentence, without a full stop.
  package static func of(
    _ condition: ScannerHealth.Condition, adapter: String, detail: String? = nil
  ) -> String {
    let extra = detail.map { " (\($0))" } ?? ""
    switch condition {
    case .scanning: return "\(adapter) scans\(extra)"
    case .shared:
      return
        "another program scans with \(adapter)\(extra): what it receives is used, but adverts may "
        + "be missing until it ends"
    case .takenOver:
      return "another program took over the scan of \(adapter)\(extra), as bluetoothd does to "
        + "discover: adverts may be missing until it ends"
    case .stopped:
      return "another program switched off the scan of \(adapter); it is switched on again"
    case .quiet:
      return
        "\(adapter) receives no advert of any kind\(extra): nothing is on air, or it has no antenna"
    case .lossy: return "\(adapter) receives more than is read\(extra): this machine is too busy"
    case .down: return "\(adapter) is switched off; switch it on: sudo hciconfig \(adapter) up"
    case .blocked:
      return "\(adapter) is blocked by rfkill\(extra); unblock it: sudo rfkill unblock bluetooth"
    case .removed: return "\(adapter) is not there; plug it in"
    case .hardwareError:
      return "the controller of \(adapter) reported a fault of its own\(extra) and is being reset"
    case .notAnswering:
      return
        "the controller of \(adapter) does not answer; if it stays so, unplug it and plug it in "
        + "again, or restart the machine"
    case .refused: return "the controller of \(adapter) refuses to scan\(extra); it is asked again"
    case .systemError:
      return "\(adapter) cannot be used\(extra); it is tried again; see what is wrong: "
        + "beaconscan doctor"
    case .notPermitted:
      let finding = Doctor.permission()
      guard finding.level != .ok else {
        return "no permission to scan with \(adapter); see what is wrong: beaconscan doctor"
      }
      return finding.message + (finding.command.map { "; allow it: \($0)" } ?? "")
    case .noBluetooth:
      return "this system has no Bluetooth, or hides it from a container\(extra); load it: "
        + "sudo modprobe btusb, or start the container with --network host"
    }
  }
}
