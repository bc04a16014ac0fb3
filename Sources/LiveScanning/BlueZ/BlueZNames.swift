import DBusMessages

/// bluetoothd's names on the bus (BlueZ, doc/*-api.txt).
enum BlueZName {
  static let service = "org.bluez"
  static let adapter = "org.bluez.Adapter1"
  static let device = "org.bluez.Device1"
  static let monitorManager = "org.bluez.AdvertisementMonitorManager1"
  static let monitor = "org.bluez.AdvertisementMonitor1"
}

/// The advertisement monitor of one adapter, an object that this process offers to bluetoothd.
struct BeaconMonitor: Hashable {
  let root: String

  /// Creates the monitor of the adapter with an object path, such as `/org/bluez/hci0`.
  init(adapter path: String) { root = "/beaconscan" + path.dropFirst("/org/bluez".count) }

  var path: String { root + "/monitor" }

  /// The properties: manufacturer-specific data (AD type 0xFF) that begins like an iBeacon frame.
  static let properties = BusValue.properties([
    "Type": .string("or_patterns"),
    "Patterns": .array(
      element: "(yyay)",
      [.structure([.byte(0), .byte(0xFF), .bytes([0x4C, 0x00, 0x02, 0x15])])]),
  ])

  var objects: BusValue {
    .dictionary(
      key: "o", value: "a{sa{sv}}",
      [
        BusValue.Entry(
          .objectPath(path),
          .dictionary(
            key: "s", value: "a{sv}",
            [BusValue.Entry(.string(BlueZName.monitor), Self.properties)]))
      ])
  }
}
