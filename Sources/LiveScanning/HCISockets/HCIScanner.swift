package import Scanning

/// A scanner on raw HCI sockets, for a machine that is only a kiosk.
///
/// It needs `CAP_NET_RAW`, and `CAP_NET_ADMIN` to switch an adapter on. It receives every advert,
/// because the controller's duplicate filter is off. By default the scan is passive; it runs at
/// full duty for ranging, at a quarter of it for monitoring, and not at all without demand. Time
/// stamps are the kernel's. Faults are reported in `ScanProgress.health`, and reception resumes as
/// soon as possible; an adapter that is named by its address is found wherever it comes back. A
/// call of `receive` waits at most a quarter of a second, or four seconds while nothing is on air.
///
/// It uses the scan of another program and never stops it. During bluetoothd's own discovery, the
/// controller reports each advert only once.
///
/// Each adapter takes 66 KB, and up to 1 MiB of the kernel's memory for unread packets.
package typealias HCIScanner = LiveSource<ReceivingState>

extension HCIScanner {
  /// Creates a scanner, which uses no adapter before it receives.
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
