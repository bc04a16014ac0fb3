import Scanning
import Sources

/// The system functions that a scanner uses, which tests replace.
struct HCISystem: Sendable {
  var adapters: @Sendable (_ socket: Int32?) throws(HCISocketError) -> [Adapter]
  var open: @Sendable (UInt16) throws(HCISocketError) -> HCISocket
  /// Opens a socket that is readable when an adapter comes, goes, or is switched; `nil` on failure.
  var watch: @Sendable () -> HCISocket? = { nil }
  var switchOn: @Sendable (UInt16) throws(HCISocketError) -> Void
  var isHeld: @Sendable (Adapter) -> Bool
  /// Returns the list of all HCI sockets, in the format of `/proc/net/hci`.
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
    socketList: { text(of: "/proc/net/hci") }, rights: { .current() })

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
      return ScannerAvailability(fault: error.condition, sentence)
    }
    guard let adapter = Adapter.best(of: all.filter(selection.includes), isHeld: isHeld) else {
      return .unavailable(selection.absence(among: all))
    }
    let rights = rights()
    if !rights.mayScan {
      return .notPermitted(HealthSentence.of(.notPermitted, adapter: adapter.name))
    }
    if adapter.isUp || adapter.block == nil && rights.maySwitch { return .available }
    return .unavailable(
      HealthSentence.of(
        adapter.offCondition, adapter: adapter.name, detail: adapter.block?.detail))
  }
}

extension Adapter {
  package static func all() throws(HCISocketError) -> [Adapter] { try HCISystem.host.adapters(nil) }
}
