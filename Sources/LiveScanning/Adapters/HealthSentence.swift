package import Scanning

/// The sentences about a receiver state, for people: what happened, where, and what fixes it.
package enum HealthSentence {
  package static func of(
    _ condition: ScannerHealth.Condition, adapter: String, detail: String? = nil
  ) -> String {
    let extra = detail.map { " (\($0))" } ?? ""
    return switch condition {
    case .scanning: "\(adapter) scans\(extra)"
    case .shared:
      "another program scans with \(adapter)\(extra): what it receives is used, but adverts may "
        + "be missing until it ends"
    case .takenOver:
      "another program took over the scan of \(adapter)\(extra), as bluetoothd does to "
        + "discover: adverts may be missing until it ends"
    case .stopped:
      "another program switched off the scan of \(adapter); it is switched on again"
    case .quiet:
      "\(adapter) receives no advert of any kind\(extra): nothing is on air, or it has no antenna"
    case .lossy: "\(adapter) receives more than is read\(extra): this machine is too busy"
    case .down: "\(adapter) is switched off; switch it on: sudo hciconfig \(adapter) up"
    case .blocked:
      "\(adapter) is blocked by rfkill\(extra); unblock it: sudo rfkill unblock bluetooth"
    case .removed: "\(adapter) is not there; plug it in"
    case .hardwareError:
      "the controller of \(adapter) reported a fault of its own\(extra) and is being reset"
    case .notAnswering:
      "the controller of \(adapter) does not answer; if it stays so, unplug it and plug it in "
        + "again, or restart the machine"
    case .refused: "the controller of \(adapter) refuses to scan\(extra); it is asked again"
    case .systemError:
      "\(adapter) cannot be used\(extra); it is tried again; see what is wrong: "
        + "beaconscan doctor"
    case .notPermitted: notPermitted(adapter)
    case .noBluetooth:
      "this system has no Bluetooth, or hides it from a container\(extra); load it: "
        + "sudo modprobe btusb, or start the container with --network host"
    }
  }

  private static func notPermitted(_ adapter: String) -> String {
    let finding = Doctor.permission()
    return finding.level == .ok
      ? "no permission to scan with \(adapter); see what is wrong: beaconscan doctor"
      : finding.message + (finding.command.map { "; allow it: \($0)" } ?? "")
  }
}
