package import Scanning

/// A scanner on raw HCI sockets: for a machine that is a kiosk and nothing else.
///
/// It needs `CAP_NET_RAW`, and `CAP_NET_ADMIN` only to switch an adapter on that is off. It receives every advert:
/// the controller's duplicate filter is off. The scan is passive unless configured otherwise, at full duty for
/// ranging, at a quarter of it while only regions are monitored, and off while there is no demand. Time stamps are
/// the kernel's. A fault is reported in `ScanProgress.health`, and reception resumes as soon as it can: an adapter
/// that is named by its address is found wherever it comes back. A call of `receive` waits for a quarter of a second at most,
/// and for four seconds where nothing is on air.
///
/// Beside bluetoothd it does no harm: a scan that another program runs is used, and never stopped. But bluetoothd's
/// own discovery has the controller report each advert once.
///
/// Each adapter takes 66 KB and up to 1 MiB of the kernel's memory for what has not been read.
package typealias HCIScanner = LiveSource<ReceivingState>

extension HCIScanner {
  /// Creates a scanner, which touches no adapter before it receives.
  package convenience init(_ configuration: ScanConfiguration = ScanConfiguration()) {
    self.init(configuration, system: .host)
  }

  convenience init(_ configuration: ScanConfiguration, system: HCISystem) {
    self.init(configuration.adapters.description, ReceivingState(configuration, system: system)) {
      system.availability(of: configuration.adapters)
    }
    RestAtExit.add(self)
  }
}
