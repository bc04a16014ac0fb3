import Scanning

/// The one place where a scanner on an adapter is made.
enum LiveSource {
  /// What is asked for.
  struct Request {
    /// Which adapters.
    enum Adapters {
      /// The first that can be used.
      case firstUsable
      /// Every one that there is or that comes.
      case all
      /// These.
      case these([AdapterName])
    }

    var adapters: Adapters
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
  /// - Throws: `CommandError` where there is none.
  static func open(_ request: Request) throws -> any Scanner {
    if request.backend == .bluez {
      throw CommandError(
        .unavailable, "--backend bluez is not built yet; use --backend hci, or leave it out")
    }
    throw CommandError(
      .unavailable, "live scanning is not built yet; name a recording with --replay FILE")
  }
}
