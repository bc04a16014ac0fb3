package import Advertising
import Sources

/// A Bluetooth adapter of this host.
package struct Adapter: Hashable, Sendable {
  /// The number on the host, which changes when the adapter is unplugged and plugged in again.
  package var index: UInt16
  /// The address; `nil` before the controller was queried, or if it has none.
  package var address: BluetoothAddress?
  package var isUp: Bool
  package var block: RadioBlock?
  /// The connection, for example `USB`.
  package var bus: String
  /// The first page of LMP features (Core Specification, Vol 2, Part C, §3.3).
  package var features: [UInt8]

  package var name: String { "hci\(index)" }

  /// Whether the adapter has Bluetooth Low Energy: LE Supported (Controller), octet 4, bit 6.
  package var supportsLE: Bool { features.count > 4 && features[4] & 0x40 != 0 }

  /// The kernel's driver, such as `btusb`; `nil` for an adapter without a device.
  package var driver: String? {
    linkTarget(of: "/sys/class/bluetooth/\(name)/device/driver")?
      .split(separator: "/").last.map(String.init)
  }

  package init(
    index: UInt16, address: BluetoothAddress?, isUp: Bool, block: RadioBlock?, bus: String,
    features: [UInt8]
  ) {
    (self.index, self.address, self.isUp, self.block) = (index, address, isUp, block)
    (self.bus, self.features) = (bus, features)
  }
}
