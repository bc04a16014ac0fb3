/// bluetoothd as values, as far as this process can see it: for the choice of a radio, and for the doctor.
package struct BlueZView: Hashable, Sendable {
  /// What keeps this process from bluetoothd.
  package enum Obstacle: Hashable, Sendable {
    /// There is no bus, with the reason.
    case noBus(String)
    /// The bus, or bluetoothd, refuses this process, with the reason.
    case refused(String)
    /// The bus is there, and bluetoothd is not.
    case notRunning
    /// bluetoothd does not answer.
    case notAnswering
    /// bluetoothd lists more than is read, as in a flood of adverts with ever new addresses.
    case tooLong
  }

  /// What keeps this process from bluetoothd; `nil` where nothing does.
  package var obstacle: Obstacle?
  package var adapters: [BlueZAdapterView]

  /// Creates a description.
  package init(obstacle: Obstacle? = nil, adapters: [BlueZAdapterView] = []) {
    (self.obstacle, self.adapters) = (obstacle, adapters)
  }

  /// Whether bluetoothd scans with an adapter, for whichever program.
  package var isDiscovering: Bool { adapters.contains { $0.isDiscovering } }
}

/// An adapter as bluetoothd shows it.
package struct BlueZAdapterView: Hashable, Sendable {
  /// The adapter's object path, such as `/org/bluez/hci0`.
  package var path: String
  package var adapter: Adapter
  package var isDiscovering: Bool
  /// Whether advertisement monitors can be registered with it.
  package var hasMonitors: Bool

  /// Creates a description.
  package init(path: String, adapter: Adapter, isDiscovering: Bool, hasMonitors: Bool) {
    (self.path, self.adapter) = (path, adapter)
    (self.isDiscovering, self.hasMonitors) = (isDiscovering, hasMonitors)
  }
}
