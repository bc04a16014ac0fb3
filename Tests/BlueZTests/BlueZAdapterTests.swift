import Advertising
import Scanning
import Testing

@testable import LiveScanning

/// The states of an adapter of bluetoothd, on a clock of the test's own.
@Suite struct BlueZAdapterTests {
  private func at(_ seconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  /// A room is quiet from its last advert on.
  @Test func aRoomIsQuietSinceItsLastAdvert() {
    let view = BlueZAdapterView(
      path: "/org/bluez/hci0",
      adapter: Adapter(
        index: 0, address: BluetoothAddress(rawValue: 0x00_AA_01_00_00_42), isUp: true, block: nil,
        bus: "USB", features: [0, 0, 0, 0, 0x40]),
      isDiscovering: true, hasMonitors: false)
    var adapter = BlueZAdapter(nil, quietTimeout: 30_000_000_000)
    func condition(_ seconds: Int64) -> ScannerHealth.Condition? {
      _ = adapter.advance(.ranging, adapters: [view], at: at(seconds))
      return adapter.state.condition
    }
    #expect(condition(0) == nil)
    adapter.discoveryStarted(at: at(0))
    for second in 1...60 as ClosedRange<Int64> {
      adapter.received(at: at(second))
      #expect(condition(second) == .shared)
    }
    #expect(condition(89) == .shared)
    #expect(condition(90) == .quiet)
    adapter.received(at: at(95))
    #expect(condition(96) == .shared)
  }
}
