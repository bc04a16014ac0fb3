/// Something that was checked on this host, and its result.
package struct Finding: Hashable, Sendable {
  /// How bad it is.
  package enum Level: String, Hashable, Sendable {
    /// As it should be.
    case ok
    /// Nothing that scanning needs.
    case info
    /// Scanning works, but not as well as it could, or not in every way.
    case warning
    /// Scanning does not work.
    case error
  }

  /// What was checked.
  package enum Subject: String, Hashable, Sendable, CaseIterable {
    case kernel
    /// Whether this process may use it from where it runs.
    case network
    case kernelVersion = "kernel-version"
    case adapter
    /// Whether something blocks it.
    case rfkill
    /// Whether a program has it for itself.
    case held
    case power
    /// Whether this process may use raw HCI sockets.
    case permission
    case answer
    case lowEnergy = "low-energy"
    /// Whether another program scans.
    case scan
    /// Whether the system's message bus can be reached.
    case bus
    /// Whether the bus lets this process talk to BlueZ's service.
    case policy
    /// Whether BlueZ's service runs.
    case bluetoothd
    /// Whether BlueZ's service reports every advert.
    case monitors
    /// The way to receive that is chosen, if none is named.
    case backend
    /// Whether gpsd can be used.
    case gpsd
    /// Whether GeoClue can be used.
    case geoclue
    /// Whether there is a compass that this process may use.
    case compass
    /// Whether a position is configured.
    case position
    /// The source of locations that is chosen.
    case location

    /// Whether raw HCI sockets alone need it.
    package var isOfRawHCI: Bool { self == .network || self == .permission || self == .scan }
    /// Whether receiving by bluetoothd alone needs it.
    package var isOfBlueZ: Bool { self == .bus || self == .policy || self == .bluetoothd }
  }

  /// What was checked.
  package var subject: Subject
  /// How bad it is.
  package var level: Level
  /// The adapter's name on the host; `nil` for all of the host.
  package var adapter: String?
  package var message: String
  /// The command that fixes it; `nil` where none is needed, or none can.
  package var command: String?

  package init(
    _ subject: Subject, _ level: Level, adapter: String? = nil, _ message: String,
    command: String? = nil
  ) {
    (self.subject, self.level, self.adapter) = (subject, level, adapter)
    (self.message, self.command) = (message, command)
  }
}
