import Advertising
package import DBusMessages
package import Scanning

/// bluetoothd as this process sees it, for the choice of a backend and for the doctor.
package struct BlueZView: Hashable, Sendable {
  package enum Obstacle: Hashable, Sendable {
    case noBus(String)
    case refused(String)
    case notRunning, notAnswering
    /// bluetoothd lists more than is read, as in a flood of adverts with new addresses.
    case tooLong
  }

  package var obstacle: Obstacle?
  package var adapters: [BlueZAdapterView] = []

  package var isDiscovering: Bool { adapters.contains { $0.isDiscovering } }
}

package struct BlueZAdapterView: Hashable, Sendable {
  /// The object path, such as `/org/bluez/hci0`.
  package var path: String
  package var adapter: Adapter
  package var isDiscovering: Bool
  package var hasMonitors: Bool
}

extension BlueZView {
  /// Queries bluetoothd. Without an answer, this takes the given nanoseconds.
  package static func current(
    _ address: BusAddress = .system, limits: BusLimits = BusLimits(),
    within limit: Int64 = 3 * MonotonicTime.nanosecondsPerSecond
  ) -> BlueZView {
    let end = MonotonicTime.now.advanced(by: limit)
    var left: Int64 { max(0, end.nanoseconds(since: MonotonicTime.now)) }
    do throws(BusError) {
      let bus = try BusConnection(address, limits: limits, timeout: left)
      defer { bus.close() }
      guard try bus.owner(of: BlueZName.service, timeout: left) != nil else {
        return BlueZView(obstacle: .notRunning)
      }
      var objects = ManagedObjects()
      do throws(BusError) {
        let request = ManagedObjects.request(to: BlueZName.service)
        objects.reset(try bus.call(request, timeout: left))
      } catch .disconnected, .invalid {
        return BlueZView(obstacle: .tooLong)
      }
      return BlueZView(adapters: BlueZAdapterView.all(in: objects))
    } catch {
      return BlueZView(obstacle: Obstacle(error))
    }
  }

  package func availability(of selection: AdapterSelection) -> ScannerAvailability {
    if let obstacle {
      return ScannerAvailability(fault: obstacle.condition, obstacle.sentence)
    }
    let all = adapters.map(\.adapter)
    let selected = all.filter(selection.includes)
    guard let adapter = Adapter.best(of: selected, isHeld: { _ in false }) else {
      return .unavailable(selection.absence(among: all))
    }
    if adapter.isUp { return .available }
    return .unavailable(
      BlueZSentence.of(
        adapter.offCondition, adapter: adapter.name, detail: adapter.block?.detail))
  }
}

extension BlueZView.Obstacle {
  init(_ error: BusError) {
    switch error {
    case .notPermitted(let reason): self = .refused(reason)
    case .timedOut: self = .notAnswering
    case .failed(BusError.Name.accessDenied, let message): self = .refused(message)
    case .failed(BusError.Name.serviceUnknown, _), .failed(BusError.Name.nameHasNoOwner, _):
      self = .notRunning
    case .failed(BusError.Name.noReply, _): self = .notAnswering
    default: self = .noBus("\(error)")
    }
  }

  package var sentence: String {
    switch self {
    case .noBus(let reason):
      "the system's message bus cannot be reached (\(reason)); start it: "
        + "sudo systemctl start dbus, or give the container -v /run/dbus:/run/dbus"
    case .refused(let reason):
      "the system's message bus does not let this user talk to bluetoothd (\(reason)); join its "
        + "group: sudo usermod -aG bluetooth USER, or start the container with --userns keep-id"
    case .notRunning:
      "bluetoothd does not run; start it: sudo systemctl start bluetooth"
    case .notAnswering:
      "bluetoothd does not answer; if it stays so, restart it: sudo systemctl restart bluetooth"
    case .tooLong:
      "bluetoothd lists more devices than are read, as in a flood of adverts with ever new addresses; it "
        + "is asked again; if it stays so, restart it: sudo systemctl restart bluetooth"
    }
  }

  var condition: ScannerHealth.Condition {
    switch self {
    case .refused: .notPermitted
    case .notAnswering: .notAnswering
    case .noBus, .notRunning, .tooLong: .systemError
    }
  }
}

extension BlueZAdapterView {
  static func all(in objects: ManagedObjects) -> [BlueZAdapterView] {
    objects.objects.compactMap { path, interfaces -> BlueZAdapterView? in
      guard let properties = interfaces[BlueZName.adapter], let index = index(in: path) else {
        return nil
      }
      let isUp = properties["Powered"]?.asBool ?? false
      return BlueZAdapterView(
        path: path,
        adapter: Adapter(
          index: index, address: properties["Address"]?.asString.flatMap { BluetoothAddress($0) },
          isUp: isUp, block: isUp ? nil : RadioBlock(adapter: index), bus: "",
          // bluetoothd does not show which adapters have Low Energy; only those are of use.
          features: [0, 0, 0, 0, 0x40]),
        isDiscovering: properties["Discovering"]?.asBool ?? false,
        hasMonitors: interfaces[BlueZName.monitorManager] != nil)
    }
    .sorted { $0.adapter.index < $1.adapter.index }
  }

  private static func index(in path: String) -> UInt16? {
    guard let name = path.split(separator: "/").last,
      case .number(let index) = AdapterName(String(name))
    else { return nil }
    return index
  }
}
