package import Scanning

/// How adapters scan, by whichever way they are used.
package struct ScanConfiguration: Sendable {
  /// The adapters that scan.
  package var adapters = AdapterSelection.firstUsable
  /// How much stronger than true adapters measure, in dB: subtracted from each signal strength.
  package var offsets: [(adapter: AdapterName, decibels: Double)] = []
  /// Whether advertisers are asked for their scan response. bluetoothd decides that by itself.
  package var isActive = false
  /// Whether adverts on the LE Coded PHY are received too, where the controller can; bluetoothd does not.
  package var usesCodedPHY = false
  /// After so many seconds without any advert the receiver state is `quiet`.
  package var quietTimeout = 30.0
  /// Is shown every packet, on the thread that receives. bluetoothd has none.
  package var packetTap: PacketTap?
  /// Is shown every advertising report, on the thread that receives. bluetoothd has none.
  package var reportTap: ReportTap?

  /// Creates the default configuration.
  package init() {}

  /// The time after which the receiver state is `quiet`, in nanoseconds.
  package var quietNanoseconds: Int64 {
    let nanoseconds = quietTimeout * 1e9
    // Longer than 292 years, and no number at all, is never.
    return nanoseconds < 9.2e18 ? Int64(max(nanoseconds, 0)) : .max
  }
}
