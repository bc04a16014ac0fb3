package import Advertising

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
}
