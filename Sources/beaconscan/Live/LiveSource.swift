import HCISockets
import Scanning

/// The one place where a scanner on an adapter is made.
enum LiveSource {
  /// What the options request.
  struct Request {
    var adapters: AdapterSelection
    var backend: AdapterOptions.Backend
    /// Whether advertisers are asked for their scan responses.
    var isActive: Bool
    /// Whether adverts on the Coded PHY are received.
    var usesCodedPHY: Bool
    /// How much stronger than true adapters measure, in dB: the scanner subtracts that.
    var offsets: [(AdapterName, Double)]
  }

  /// Creates the scanner.
  ///
  /// - Parameters:
  ///   - request: What the options request.
  ///   - packetTap: Is handed every HCI packet.
  /// - Returns: The scanner.
  /// - Throws: `CommandError` where there is none.
  static func open(_ request: Request, packetTap: PacketTap? = nil) throws -> any Scanner {
    if request.backend == .bluez {
      throw CommandError(
        .unavailable, "--backend bluez is not built yet; use --backend hci, or leave it out")
    }
    var configuration = HCIScanner.Configuration()
    configuration.adapters = request.adapters
    configuration.isActive = request.isActive
    configuration.usesCodedPHY = request.usesCodedPHY
    configuration.packetTap = packetTap
    configuration.offsets = request.offsets.map { (adapter: $0.0, decibels: $0.1) }
    return HCIScanner(configuration)
  }
}
