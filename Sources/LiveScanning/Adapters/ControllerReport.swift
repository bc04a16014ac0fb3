package import HCIPackets

/// What an adapter's controller reports of itself, as far as it may be asked.
///
/// The kernel lets every process ask for version and commands of an adapter that is on, but lets it ask for the Low
/// Energy features only with `CAP_NET_RAW`.
package struct ControllerReport: Hashable, Sendable {
  /// The manufacturer and the version; `nil` where they are not known.
  package var version: ControllerVersion?
  /// Which commands it takes, 64 bytes; `nil` where that is not known.  // Supported_Commands
  package var commands: [UInt8]?
  /// What its Low Energy part can do; `nil` where that is not known.
  package var features: LEFeatures?
  /// Why something is not known: the first question that was not answered.
  package var failure: CommandFailure?

  /// Whether it scans with the commands of Bluetooth 5; `nil` where that is not known.
  package var hasExtendedScan: Bool? {
    commands.map { ScanCommandSet(supportedCommands: $0) == .extended }
  }

  /// Whether it advertises with the commands of Bluetooth 5; `nil` where that is not known.
  package var hasExtendedAdvertising: Bool? {
    commands.map { AdvertisingCommandSet(supportedCommands: $0) != .legacy }
  }

  /// Whether it was asked in vain.
  package var isMute: Bool { if case .unanswered = failure { true } else { false } }
}
