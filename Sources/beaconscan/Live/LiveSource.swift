import HCISockets
import Scanning

/// The one place where a scanner on an adapter is made.
enum LiveSource {
  /// What is asked for.
  struct Request {
    var adapters: AdapterSelection
    var backend: AdapterOptions.Backend
    /// Whether advertisers are asked for their scan responses.
    var isActive: Bool
    /// Whether the Coded PHY is listened to.
    var usesCodedPHY: Bool
    /// How much stronger than true adapters hear, in dB: the scanner takes that away.
    var offsets: [(AdapterName, Double)]
  }

  /// Makes the scanner.
  ///
  /// - Parameters:
  ///   - request: What is asked for.
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
