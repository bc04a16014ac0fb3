import Bytes
import CBluetooth
import Glibc
public import HCIPackets

/// What an adapter's controller says of itself, as far as it may be asked.
///
/// The kernel lets every process ask for version and commands of an adapter that is on, but lets it ask
/// for the Low Energy features only with `CAP_NET_RAW`.
public struct ControllerReport: Hashable, Sendable {
  /// Who made it, and the version; `nil` where that is not known.
  public var version: ControllerVersion?
  /// Which commands it takes, 64 bytes; `nil` where that is not known.  // Supported_Commands
  public var commands: [UInt8]?
  /// What its Low Energy part can do; `nil` where that is not known.
  public var features: LEFeatures?
  /// Why something is not known: the first question that was not answered.
  public var failure: CommandFailure?

  /// Makes a report.
  public init(
    version: ControllerVersion? = nil, commands: [UInt8]? = nil, features: LEFeatures? = nil,
    failure: CommandFailure? = nil
  ) {
    self.version = version
    self.commands = commands
    self.features = features
    self.failure = failure
  }

  /// Asks an adapter's controller. It takes ``CommandChannel/answerLimit`` at most.
  public static func ask(_ adapter: Adapter) -> ControllerReport {
    var report = ControllerReport()
    do throws(CommandFailure) {
      let channel = try adapter.channel()
      report.version = try channel.ask(.readLocalVersion) { (bytes) throws(ParseError) in
        try ControllerVersion(bytes)
      }
      report.commands = try channel.send(HCICommand(.readLocalSupportedCommands))
      if adapter.supportsLE {
        report.features = try channel.ask(.readLocalLEFeatures) { (bytes) throws(ParseError) in
          try LEFeatures(bytes)
        }
      }
    } catch {
      report.failure = error
    }
    return report
  }

  /// Whether it scans with the commands of Bluetooth 5; `nil` where that is not known.
  public var hasExtendedScan: Bool? {
    commands.map { ScanCommandSet(supportedCommands: $0) == .extended }
  }

  /// Whether it advertises with the commands of Bluetooth 5; `nil` where that is not known.
  public var hasExtendedAdvertising: Bool? {
    commands.map { AdvertisingCommandSet(supportedCommands: $0) != .legacy }
  }

  /// Whether it was asked in vain.
  public var isMute: Bool {
    if case .unanswered = failure { true } else { false }
  }
}

extension Adapter {
  /// Whether a program has it for itself alone, by the user channel.
  var isHeld: Bool {
    guard let socket = try? HCISocket.bound(to: index) else { return false }
    // An address to which there is no connection, and room for what would be said of one. The kernel
    // answers EBUSY before it looks at it.
    var request = InlineArray<64, UInt8>(repeating: 0)
    // The request outlives the call.
    let done = unsafe ioctl(socket.descriptor, UInt(cbluetooth_HCIGETCONNINFO), &request)
    return done != 0 && errno == EBUSY
  }

  /// The kernel's driver of it, such as `btusb`; `nil` for one without a device.
  var driver: String? {
    linkTarget(of: "/sys/class/bluetooth/\(name)/device/driver")?
      .split(separator: "/").last.map(String.init)
  }
}
