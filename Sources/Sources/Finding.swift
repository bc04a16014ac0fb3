/// The result of a check of this host.
package struct Finding: Hashable, Sendable {
  package enum Level: String, Hashable, Sendable {
    case ok
    /// Scanning does not need it.
    case info
    /// Scanning works, but not as well as it could, or not in every way.
    case warning
    /// Scanning does not work.
    case error
  }

  package enum Subject: String, Hashable, Sendable, CaseIterable {
    case kernel
    /// The access of this process to Bluetooth sockets.
    case network
    case kernelVersion = "kernel-version"
    case adapter
    case rfkill
    /// The exclusive use of an adapter by a program.
    case held
    case power
    /// The permission to use raw HCI sockets.
    case permission
    case answer
    case lowEnergy = "low-energy"
    /// A scan by another program.
    case scan
    case bus
    /// The bus's permission to talk to bluetoothd.
    case policy
    case bluetoothd
    /// The advertisement monitors by which bluetoothd reports every advert.
    case monitors
    /// The backend that is used if none is named.
    case backend
    case gpsd
    case geoclue
    case compass
    case position
    /// The chosen source of locations.
    case location
    /// The service for apps.
    case apps

    /// Whether only raw HCI sockets need it.
    package var isOfRawHCI: Bool { self == .network || self == .permission || self == .scan }
    /// Whether only reception through bluetoothd needs it.
    package var isOfBlueZ: Bool { self == .bus || self == .policy || self == .bluetoothd }
  }

  package var subject: Subject
  package var level: Level
  /// The adapter's name on the host; `nil` for the whole host.
  package var adapter: String?
  package var message: String
  /// The command that fixes it; `nil` if none is needed or possible.
  package var command: String?

  package init(
    _ subject: Subject, _ level: Level, adapter: String? = nil, _ message: String,
    command: String? = nil
  ) {
    (self.subject, self.level, self.adapter) = (subject, level, adapter)
    (self.message, self.command) = (message, command)
  }
}
