package import Scanning

package struct BackendChoice: Hashable, Sendable {
  package var backend: LiveScanner.Backend
  /// The reason, as it follows "because"; `nil` if there was no choice.
  package var reason: String?

  package var sentence: String {
    let reason = reason.map { ", because \($0)" } ?? ""
    switch backend {
    case .bluez:
      return "scans receive through bluetoothd\(reason); that costs more processor time than raw "
        + "HCI sockets, and is without --active, --coded and record"
    case .auto, .hci:
      return "scans receive by raw HCI sockets\(reason); that costs the least processor time"
    }
  }

  /// Returns the first backend: raw HCI if permitted while bluetoothd does not scan, or bluetoothd.
  package static func first(
    hci: ScannerAvailability, bluez view: BlueZView, of adapters: AdapterSelection
  ) -> BackendChoice {
    let bluez = view.availability(of: adapters)
    switch (hci, bluez) {
    case (.available, .available) where view.isDiscovering:
      return BackendChoice(backend: .bluez, reason: "another program scans with bluetoothd")
    case (.available, _):
      return BackendChoice(backend: .hci, reason: "this process may use raw HCI sockets")
    // bluetoothd may come, and its states say what to do. Raw HCI is not permitted in any case.
    case (.notPermitted, _):
      return BackendChoice(backend: .bluez, reason: "this process may not use raw HCI sockets")
    case (.unavailable, .available):
      return BackendChoice(backend: .bluez, reason: "raw HCI sockets cannot be used here")
    default: return BackendChoice(backend: .hci, reason: "bluetoothd cannot be used")
    }
  }

  /// Returns whether one of the two can be used, and otherwise what to do. If raw HCI is not
  /// permitted and bluetoothd is missing, the permission is the problem, unless one of the two
  /// could be used before: then bluetoothd will come back.
  static func availability(
    hci: ScannerAvailability, bluez: ScannerAvailability, wasUsable: Bool = false
  ) -> ScannerAvailability {
    switch (hci, bluez) {
    case (.available, _), (_, .available): .available
    case (.notPermitted(let raw), .unavailable(let bus)) where wasUsable:
      .unavailable("\(bus); or, with another right: \(raw)")
    case (.notPermitted(let raw), .notPermitted(let bus)),
      (.notPermitted(let raw), .unavailable(let bus)):
      .notPermitted("\(raw); or, without that right: \(bus)")
    case (.unavailable(let raw), .unavailable(let bus)),
      (.unavailable(let raw), .notPermitted(let bus)):
      .unavailable("\(raw); or, over D-Bus: \(bus)")
    }
  }
}
