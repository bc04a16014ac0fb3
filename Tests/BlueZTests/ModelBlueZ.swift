import DBusMessages
import Dispatch
import Foundation
import Synchronization
import TestDaemons
import TestSupport

/// A bluetoothd of the tests: it has one adapter, and does what its script says.
final class ModelBlueZ: Sendable {
  /// What it does when it is asked.
  struct Behavior: Sendable {
    var hasMonitors = true
    var isPowered = true
    /// How often StartDiscovery is answered with `InProgress`, though nothing is in progress.
    var busyAnswers = 0
    /// Whether StartDiscovery is never answered, as that of the first of two clients at the same time. The
    /// discovery starts, and the client's next one is refused with `InProgress`.
    var losesAnswer = false
    var isMute = false
    /// Whether calls are received and never answered, while signals are sent.
    var ignoresCalls = false
    /// The call during which it becomes mute.
    var stallsAt: String?
    /// What the list of its objects has beside the adapter's own properties.
    var ballast: BusValue?
  }

  static let adapter = "/org/bluez/hci0"
  private static let manager = "org.freedesktop.DBus.ObjectManager"
  private static let properties = "org.freedesktop.DBus.Properties"

  private struct State: Sendable {
    var behavior: Behavior
    var isOver = false
    /// What is to be sent.
    var outgoing: [BusMessage] = []
    /// The calls that came, by their members.
    var calls: [String] = []
    /// The client with a monitor, and the root path of its objects.
    var monitor: (client: String, root: String)?
    var discoverers: Set<String> = []
  }

  private let state: Mutex<State>
  private let ended = DispatchSemaphore(value: 0)

  /// Starts on a bus, and waits until it has its name.
  init(on bus: BusDaemon, _ behavior: Behavior = Behavior()) throws {
    state = Mutex(State(behavior: behavior))
    let isReady = DispatchSemaphore(value: 0)
    let address = bus.address
    Thread.detachNewThread { [self] in
      do throws(BusError) {
        let connection = try BusConnection(.address(address))
        _ = try connection.call(
          .toBus("RequestName", .string("org.bluez"), .uint32(0)), timeout: 20_000_000_000)
        try connection.addMatch(
          BusMatch(interface: "org.freedesktop.DBus", member: "NameOwnerChanged"))
        isReady.signal()
        while !state.withLock({ $0.isOver }) { try serve(connection) }
        connection.close()
      } catch {
        isReady.signal()
      }
      ended.signal()
    }
    isReady.wait()
  }

  /// Ends it, as a service that is stopped or killed.
  func end() {
    state.withLock { $0.isOver = true }
    ended.wait()
  }

  /// The calls that came, by their members.
  var calls: [String] { state.withLock { $0.calls } }
  var hasMonitor: Bool { state.withLock { $0.monitor != nil } }
  var isDiscovering: Bool { state.withLock { !$0.discoverers.isEmpty } }

  /// Whether nothing that a client set up is left.
  var isClean: Bool { !hasMonitor && !isDiscovering }

  func setBallast(_ ballast: BusValue?) { state.withLock { $0.behavior.ballast = ballast } }
  func setMute(_ isMute: Bool) {
    state.withLock { ($0.behavior.isMute, $0.behavior.stallsAt) = (isMute, nil) }
  }
  func setIgnoresCalls(_ ignoresCalls: Bool) {
    state.withLock { $0.behavior.ignoresCalls = ignoresCalls }
  }

  /// Switches the adapter on or off.
  func setPower(_ isOn: Bool) {
    state.withLock { state in
      state.behavior.isPowered = isOn
      if !isOn { state.discoverers = [] }
    }
    change(Self.adapter, "org.bluez.Adapter1", ["Powered": .boolean(isOn)])
    if !isOn { change(Self.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(false)]) }
  }

  /// Removes the adapter, or brings it back.
  func setPlugged(_ isPlugged: Bool) {
    let names: [BusValue] = [
      .string("org.bluez.Adapter1"), .string("org.bluez.AdvertisementMonitorManager1"),
    ]
    if isPlugged {
      send("InterfacesAdded", .objectPath(Self.adapter), interfaces)
    } else {
      state.withLock { ($0.monitor, $0.discoverers) = (nil, []) }
      send("InterfacesRemoved", .objectPath(Self.adapter), .array(element: "s", names))
    }
  }

  /// Adds a device, as bluetoothd does when it receives one for the first time.
  func add(_ device: String, _ values: [String: BusValue]) {
    let properties = values.merging(["AddressType": .string("random")]) { $1 }
    send(
      "InterfacesAdded", .objectPath(device),
      .dictionary(
        key: "s", value: "a{sv}",
        [BusValue.Entry(.string("org.bluez.Device1"), .properties(properties))]))
  }

  /// Signals an object's properties.
  func change(_ path: String, _ interface: String, _ values: [String: BusValue]) {
    let signal = BusMessage(
      signal: "PropertiesChanged", of: Self.properties, at: path, .string(interface),
      .properties(values), .strings([]))
    state.withLock { $0.outgoing.append(signal) }
  }

  /// Calls the monitor of the client, as for every advert of a device.
  func report(_ device: String) {
    state.withLock { state in
      guard let (client, root) = state.monitor else { return }
      var call = BusMessage(
        call: "DeviceFound", of: "org.bluez.AdvertisementMonitor1", at: root + "/monitor",
        to: client, body: [.objectPath(device)])
      call.expectsReply = false
      state.outgoing.append(call)
    }
  }

  private func send(_ member: String, _ path: BusValue, _ value: BusValue) {
    let signal = BusMessage(signal: member, of: Self.manager, at: "/", path, value)
    state.withLock { $0.outgoing.append(signal) }
  }

  // MARK: The service

  private func serve(_ bus: BusConnection) throws(BusError) {
    guard !state.withLock({ $0.behavior.isMute }) else {
      usleep(2000)
      return
    }
    for message in try bus.receive(waitingAtMost: 2_000_000) { try answer(message, bus) }
    let outgoing = state.withLock { state in
      defer { state.outgoing = [] }
      return state.outgoing
    }
    for message in outgoing { try bus.send(message) }
  }

  private func answer(_ message: BusMessage, _ bus: BusConnection) throws(BusError) {
    if let change = message.ownerChange, change.owner == nil {
      return state.withLock { state in
        if state.monitor?.client == change.name { state.monitor = nil }
        state.discoverers.remove(change.name)
      }
    }
    guard message.kind == .call, let member = message.member, let client = message.sender else {
      return
    }
    state.withLock { state in
      state.calls.append(member)
      if state.behavior.stallsAt == member { state.behavior.isMute = true }
    }
    while state.withLock({ $0.behavior.isMute && !$0.isOver }) { usleep(2000) }
    guard !state.withLock({ $0.behavior.ignoresCalls }) else { return }
    switch member {
    case "GetManagedObjects":
      try bus.reply(
        to: message,
        with: [
          .dictionary(
            key: "o", value: "a{sa{sv}}",
            [BusValue.Entry(.objectPath(Self.adapter), interfaces)])
        ])
    case "RegisterMonitor":
      let root = message.body.first?.asString ?? ""
      state.withLock { $0.monitor = (client, root) }
      try bus.reply(to: message)
      try bus.send(
        BusMessage(
          call: "GetManagedObjects", of: Self.manager, at: root, to: client))
      try bus.send(
        BusMessage(
          call: "Activate", of: "org.bluez.AdvertisementMonitor1", at: root + "/monitor",
          to: client))
    case "StartDiscovery":
      let (isBusy, losesAnswer) = state.withLock { state in
        defer { state.behavior.busyAnswers = max(0, state.behavior.busyAnswers - 1) }
        let isBusy = state.behavior.busyAnswers > 0 || state.discoverers.contains(client)
        if !isBusy { state.discoverers.insert(client) }
        return (isBusy, state.behavior.losesAnswer)
      }
      guard !isBusy else {
        return try bus.replyError(
          to: message, name: "org.bluez.Error.InProgress", message: "Operation already in progress")
      }
      if !losesAnswer { try bus.reply(to: message) }
      change(Self.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(true)])
    case "StopDiscovery":
      _ = state.withLock { $0.discoverers.remove(client) }
      try bus.reply(to: message)
      change(Self.adapter, "org.bluez.Adapter1", ["Discovering": .boolean(false)])
    default: try bus.reply(to: message)
    }
  }

  private var interfaces: BusValue {
    let (behavior, isDiscovering) = state.withLock { ($0.behavior, !$0.discoverers.isEmpty) }
    var entries = [
      BusValue.Entry(
        .string("org.bluez.Adapter1"),
        .properties([
          "Address": .string("00:AA:01:00:00:42"), "Powered": .boolean(behavior.isPowered),
          "Discovering": .boolean(isDiscovering),
        ]))
    ]
    if let ballast = behavior.ballast {
      entries.append(BusValue.Entry(.string("model.Ballast"), .properties(["All": ballast])))
    }
    if behavior.hasMonitors {
      entries.append(
        BusValue.Entry(
          .string("org.bluez.AdvertisementMonitorManager1"),
          .properties(["SupportedMonitorTypes": .strings(["or_patterns"])])))
    }
    return .dictionary(key: "s", value: "a{sv}", entries)
  }
}
