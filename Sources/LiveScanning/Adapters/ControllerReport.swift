package import HCIPackets

/// The information of a controller about itself, as far as this process may query it.
///
/// The kernel lets every process query the version and commands of an adapter that is on, but its
/// Low Energy features only with `CAP_NET_RAW`.
package struct ControllerReport: Hashable, Sendable {
  package var version: ControllerVersion?
  /// The 64 bytes of Supported_Commands; `nil` if unknown.
  package var commands: [UInt8]?
  package var features: LEFeatures?
  /// The failure of the first query that was not answered.
  package var failure: CommandFailure?

  /// Whether it scans with the commands of Bluetooth 5; `nil` if unknown.
  package var hasExtendedScan: Bool? {
    commands.map { ScanCommandSet(supportedCommands: $0) == .extended }
  }

  /// Whether it advertises with the commands of Bluetooth 5; `nil` if unknown.
  package var hasExtendedAdvertising: Bool? {
    commands.map { AdvertisingCommandSet(supportedCommands: $0) != .legacy }
  }

  package var isMute: Bool { if case .unanswered = failure { true } else { false } }
}
