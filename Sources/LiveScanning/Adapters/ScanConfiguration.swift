package import Scanning

/// The configuration of adapters, for any backend.
package struct ScanConfiguration: Sendable {
  package var adapters = AdapterSelection.firstUsable
  /// The excess of adapters' measurements in dB, which is subtracted from each signal strength.
  package var offsets: [(adapter: AdapterName, decibels: Double)] = []
  /// Whether to ask advertisers for scan responses. bluetoothd decides that by itself.
  package var isActive = false
  /// Whether to receive the LE Coded PHY too, if the controller can. bluetoothd cannot.
  package var usesCodedPHY = false
  /// The seconds without any advert after which the receiver state is `quiet`.
  package var quietTimeout = 30.0
  /// The function that receives every packet, on the receiving thread; not with bluetoothd.
  package var packetTap: PacketTap?
  /// The function that receives every report, on the receiving thread; not with bluetoothd.
  package var reportTap: ReportTap?

  package init() {}

  package var quietNanoseconds: Int64 {
    let nanoseconds = quietTimeout * 1e9
    // More than 292 years, and not a number, mean never.
    return nanoseconds < 9.2e18 ? Int64(max(nanoseconds, 0)) : .max
  }
}
