package import Advertising
import Scanning
import Sources

package struct Adapter: Hashable, Sendable {
  /// The number on the host, which changes when the adapter is unplugged and plugged in again.
  package var index: UInt16
  /// The address; `nil` before the controller was queried, or if it has none.
  package var address: BluetoothAddress?
  package var isUp: Bool
  package var block: RadioBlock?
  package var bus: String
  /// The first page of LMP features (Core Specification, Vol 2, Part C, §3.3).
  package var features: [UInt8]

  package var name: String { "hci\(index)" }

  /// The condition of an adapter that is not up.
  var offCondition: ScannerHealth.Condition { block == nil ? .down : .blocked }

  /// Whether the adapter has Bluetooth Low Energy: LE Supported (Controller), octet 4, bit 6.
  package var supportsLE: Bool { features.count > 4 && features[4] & 0x40 != 0 }
}

package enum RadioBlock: String, Hashable, Sendable {
  /// By software; `rfkill unblock bluetooth` ends it.
  case soft
  /// By a switch or a key of the machine.
  case hard

  package var detail: String? { self == .hard ? "a switch or key of this machine" : nil }

  /// Reads an adapter's rfkill entry in sysfs; returns `nil` if nothing blocks it.
  package init?(adapter index: UInt16, sysfs: String = "/sys/class/bluetooth") {
    let directory = "\(sysfs)/hci\(index)"
    guard let entry = names(in: directory).first(where: { $0.hasPrefix("rfkill") }) else {
      return nil
    }
    let block = [RadioBlock.hard, .soft].first { block in
      firstLine(of: "\(directory)/\(entry)/\(block.rawValue)") == "1"
    }
    guard let block else { return nil }
    self = block
  }
}
