/// bluetoothd as this process sees it, for the choice of a backend and for the doctor.
package struct BlueZView: Hashable, Sendable {
  package enum Obstacle: Hashable, Sendable {
    case noBus(String)
    /// The bus or bluetoothd refuses this process, for this reason.
    case refused(String)
    case notRunning
    case notAnswering
    /// bluetoothd lists more than is read, as in a flood of adverts with new addresses.
    case tooLong
  }

  package var obstacle: Obstacle?
  package var adapters: [BlueZAdapterView] = []

  /// Whether bluetoothd scans with an adapter, for any program.
  package var isDiscovering: Bool { adapters.contains { $0.isDiscovering } }
}

package struct BlueZAdapterView: Hashable, Sendable {
  /// The object path, such as `/org/bluez/hci0`.
  package var path: String
  package var adapter: Adapter
  package var isDiscovering: Bool
  /// Whether advertisement monitors can be registered with it.
  package var hasMonitors: Bool
}
