package import Scanning

/// A scanner on raw HCI sockets, for a machine that is only a kiosk.
///
/// It needs `CAP_NET_RAW`, and `CAP_NET_ADMIN` to switch an adapter on. It receives every advert,
/// because the controller's duplicate filter is off. By default the scan is passive; it runs at
/// full duty for ranging, at a quarter of it for monitoring, and not at all without demand. Time
/// stamps are the kernel's. A call of `receive` waits at most a quarter of a second, or four
/// seconds while nothing is on air.
///
/// It uses the scan of another program and never stops it. During bluetoothd's own discovery, the
/// controller reports each advert only once.
package typealias HCIScanner = LiveSource<ReceivingState>

extension HCIScanner {
  package convenience init(_ configuration: LiveScanner.Configuration = LiveScanner.Configuration())
  {
    self.init(configuration, system: .host)
  }

  convenience init(_ configuration: LiveScanner.Configuration, system: HCISystem) {
    self.init(configuration.adapters.description, ReceivingState(configuration, system: system)) {
      system.availability(of: configuration.adapters)
    }
    RestAtExit.add(self)
  }
}
