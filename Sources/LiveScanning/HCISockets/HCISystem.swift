import HCIPackets
import Scanning

/// What a scanner asks of the system. Tests replace it with a host of their own.
struct HCISystem: Sendable {
  /// Returns the adapters that are there, by number. They are asked through the socket that is open already, if one
  /// is given.
  var adapters: @Sendable (_ socket: Int32?) throws(HCISocketError) -> [Adapter]
  var open: @Sendable (UInt16) throws(HCISocketError) -> HCISocket
  /// Opens a socket that can be read when an adapter comes, goes, or is switched on or off; `nil` where that fails.
  var watch: @Sendable () -> HCISocket? = { nil }
  /// Switches an adapter on, which can take seconds.
  var switchOn: @Sendable (UInt16) throws(HCISocketError) -> Void
  /// Returns whether a program has an adapter for itself alone.
  var isHeld: @Sendable (Adapter) -> Bool
  /// Returns the list of all HCI sockets, as `/proc/net/hci` has it.
  var socketList: @Sendable () -> String?
  var rights: @Sendable () -> ProcessRights

  static let host = HCISystem(
    adapters: { (socket) throws(HCISocketError) in
      if let socket { return try HCISocket.adapters(through: socket) }
      let socket = try HCISocket.unbound()
      return try HCISocket.adapters(through: socket.descriptor)
    },
    open: { (index) throws(HCISocketError) in try HCISocket.scanning(index) },
    watch: { try? HCISocket.watching() },
    switchOn: { (index) throws(HCISocketError) in try HCISocket.unbound().switchOn(index) },
    isHeld: { adapter in (try? HCISocket.bound(to: adapter.index))?.isHeld ?? false },
    socketList: { HCIPrograms.socketList() }, rights: { .current() })
}

extension HCISystem {
  /// Returns whether one of the selected adapters can be used, and why not. It opens one socket, briefly.
  func availability(of selection: AdapterSelection) -> ScannerAvailability {
    let all: [Adapter]
    do throws(HCISocketError) {
      all = try adapters(nil)
    } catch {
      let sentence =
        error == .notBuiltIn
        ? "\(error)"
        : HealthSentence.of(
          error.condition, adapter: error.adapter ?? "Bluetooth", detail: "\(error)")
      return error.condition == .notPermitted ? .notPermitted(sentence) : .unavailable(sentence)
    }
    guard let adapter = Adapter.best(of: all.filter(selection.includes), isHeld: isHeld) else {
      return .unavailable(selection.absence(among: all))
    }
    let rights = rights()
    if !rights.mayScan {
      return .notPermitted(HealthSentence.of(.notPermitted, adapter: adapter.name))
    }
    if adapter.isUp { return .available }
    if let block = adapter.block {
      return .unavailable(HealthSentence.of(.blocked, adapter: adapter.name, detail: block.detail))
    }
    return rights.maySwitch
      ? .available : .unavailable(HealthSentence.of(.down, adapter: adapter.name))
  }
}

extension Adapter {
  /// Returns the adapters that are there, by number; throws where the kernel has no Bluetooth.
  package static func all() throws(HCISocketError) -> [Adapter] { try HCISystem.host.adapters(nil) }
}
