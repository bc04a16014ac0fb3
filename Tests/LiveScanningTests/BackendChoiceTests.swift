import Advertising
import Scanning
import Testing

@testable import LiveScanning

@Suite struct BackendChoiceTests {
  static func view(isDiscovering: Bool = false, isUp: Bool = true) -> BlueZView {
    BlueZView(adapters: [
      BlueZAdapterView(
        path: "/org/bluez/hci0",
        adapter: Adapter(
          index: 0, address: nil, isUp: isUp, block: nil, bus: "", features: [0, 0, 0, 0, 0x40]),
        isDiscovering: isDiscovering, hasMonitors: true)
    ])
  }

  static let absent = BlueZView(obstacle: .notRunning)

  @Test(arguments: [
    (ScannerAvailability.available, view(), LiveScanner.Backend.hci),
    (.available, view(isDiscovering: true), .bluez),
    (.available, absent, .hci),
    (.notPermitted("no"), view(), .bluez),
    // What is not permitted is no alternative to a daemon that may come.
    (.notPermitted("no"), absent, .bluez),
    // Its states tell that the adapter is off.
    (.notPermitted("no"), view(isUp: false), .bluez),
    (.unavailable("no"), view(), .bluez),
    (.unavailable("no"), absent, .hci),
  ]) func `the first choice`(
    hci: ScannerAvailability, bluez: BlueZView, backend: LiveScanner.Backend
  ) {
    let choice = BackendChoice.first(hci: hci, bluez: bluez, of: .firstUsable)
    #expect(choice.backend == backend)
    #expect(choice.reason?.isEmpty == false)
  }

  @Test func `one way that can be used is enough, and otherwise both are named`() {
    let no = ScannerAvailability.unavailable("it is off")
    #expect(BackendChoice.availability(hci: .available, bluez: no) == .available)
    #expect(BackendChoice.availability(hci: no, bluez: .available) == .available)
    #expect(
      BackendChoice.availability(hci: no, bluez: no)
        == .unavailable("it is off; or, over D-Bus: it is off"))
    #expect(
      BackendChoice.availability(hci: .notPermitted("no right"), bluez: no)
        == .notPermitted("no right; or, without that right: it is off"))
    #expect(
      BackendChoice.availability(hci: .notPermitted("no right"), bluez: no, wasUsable: true)
        == .unavailable("it is off; or, with another right: no right"))
    #expect(
      BackendChoice.availability(hci: .notPermitted("no right"), bluez: .notPermitted("nor this"))
        == .notPermitted("no right; or, without that right: nor this"))
  }
}
