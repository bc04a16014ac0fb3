package import Advertising
import Sources

/// A Bluetooth adapter of this host.
package struct Adapter: Hashable, Sendable {
  /// The adapter's number on the host; another one after it was unplugged and plugged in again.
  package var index: UInt16
  /// The adapter's address; `nil` as long as the controller has not been asked, or has none.
  package var address: BluetoothAddress?
  package var isUp: Bool
  /// How rfkill blocks the adapter; `nil` where it does not.
  package var block: RadioBlock?
  /// How the adapter is connected, for example `USB`.
  package var bus: String
  /// LMP features, the first page (Core Specification, Vol 2, Part C, §3.3).
  package var features: [UInt8]

  /// The adapter's name on the host, such as `hci0`.
  package var name: String { "hci\(index)" }

  /// Whether the adapter has Bluetooth Low Energy: LE Supported (Controller), octet 4, bit 6.
  package var supportsLE: Bool { features.count > 4 && features[4] & 0x40 != 0 }

  /// The kernel's driver of the adapter, such as `btusb`; `nil` for an adapter without a device.
  package var driver: String? {
    linkTarget(of: "/sys/class/bluetooth/\(name)/device/driver")?
      .split(separator: "/").last.map(String.init)
  }

  /// Creates a description.
  package init(
    index: UInt16, address: BluetoothAddress?, isUp: Bool, block: RadioBlock?, bus: String,
    features: [UInt8]
  ) {
    (self.index, self.address, self.isUp, self.block) = (index, address, isUp, block)
    (self.bus, self.features) = (bus, features)
  }
}
