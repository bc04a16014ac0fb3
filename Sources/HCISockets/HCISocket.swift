import CBluetooth
import Glibc
import HCIPackets
import Scanning

/// A raw HCI socket; closed when it goes, never inherited, never blocking.
struct HCISocket: ~Copyable {
  /// Its number in this process.
  let descriptor: Int32
  /// Which adapter it is bound to; `nil` for none.
  let adapter: UInt16?

  private init(descriptor: Int32, adapter: UInt16?) {
    self.descriptor = descriptor
    self.adapter = adapter
  }

  deinit {
    close(descriptor)
  }

  /// Opens a socket that is bound to no adapter.
  ///
  /// - Throws: ``HCISocketError``: `EAFNOSUPPORT` where the kernel has no Bluetooth, or not in this
  ///   network namespace.
  static func unbound() throws(HCISocketError) -> HCISocket { try open(for: nil) }

  /// Opens a socket that hears one adapter's commands and events, with kernel time stamps.
  static func bound(to adapter: UInt16) throws(HCISocketError) -> HCISocket {
    let socket = try open(for: adapter)
    try socket.bindAndSet(adapter)
    return socket
  }

  private static func open(for adapter: UInt16?) throws(HCISocketError) -> HCISocket {
    let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue | flags), BTPROTO_HCI)
    guard descriptor >= 0 else { throw HCISocketError("socket", adapter: adapter) }
    return HCISocket(descriptor: descriptor, adapter: adapter)
  }

  private func bindAndSet(_ adapter: UInt16) throws(HCISocketError) {
    var address = sockaddr_hci()
    address.hci_family = sa_family_t(AF_BLUETOOTH)
    address.hci_dev = adapter
    address.hci_channel = UInt16(HCI_CHANNEL_RAW)
    // The structure outlives the call.
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_hci>.size))
      }
    }
    guard bound == 0 else { throw HCISocketError("bind", adapter: adapter) }
    for option in [HCI_TIME_STAMP, HCI_DATA_DIR] { try set(1 as Int32, SOL_HCI, option) }
    // Room for a second of 1,000 reports; the kernel gives less to who may not have it.
    var room: Int32 = 1 << 20
    let size = socklen_t(MemoryLayout<Int32>.size)
    // The number outlives both calls.
    if unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, size) != 0 {
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, size)
    }
  }

  private func set<Value: BitwiseCopyable>(_ value: Value, _ level: Int32, _ option: Int32)
    throws(HCISocketError)
  {
    var value = value
    // The value outlives the call.
    guard
      unsafe setsockopt(
        descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0
    else { throw HCISocketError("setsockopt", adapter: adapter) }
  }

  /// Has the kernel wake us for nothing but what a scanner needs.
  ///
  /// Commands of others are heard too: they tell who else scans.
  ///
  /// - Returns: Whether the kernel took all of the filter. To a process without `CAP_NET_RAW` it gives
  ///   no LE events, and says nothing.
  func filterForScanning() throws(HCISocketError) -> Bool {
    let events = [EVT_CMD_COMPLETE, EVT_CMD_STATUS, EVT_HARDWARE_ERROR, EVT_LE_META_EVENT]
    try filter(events: events, commands: true)
    var kept = hci_filter()
    var size = socklen_t(MemoryLayout<hci_filter>.size)
    // Both outlive the call.
    guard unsafe getsockopt(descriptor, SOL_HCI, HCI_FILTER, &kept, &size) == 0 else {
      throw HCISocketError("getsockopt", adapter: adapter)
    }
    return kept.event_mask.1 & 1 << UInt32(EVT_LE_META_EVENT - 32) != 0
  }

  /// Sends a command to the controller.
  ///
  /// - Throws: ``HCISocketError``: `ENETDOWN` where the adapter is off, `EPERM` without
  ///   `CAP_NET_RAW`.
  func send(_ command: HCICommand) throws(HCISocketError) {
    let packet = command.packet
    // The array's memory is used during the call alone.
    let sent = unsafe packet.withUnsafeBytes { bytes in
      unsafe write(descriptor, bytes.baseAddress, bytes.count)
    }
    guard sent == packet.count else { throw HCISocketError("write", adapter: adapter) }
  }

  /// How many packets the kernel had no room for.  // SK_MEMINFO_DROPS
  var drops: UInt32 {
    var figures = InlineArray<16, UInt32>(repeating: 0)
    var size = socklen_t(MemoryLayout.size(ofValue: figures))
    // The kernel writes at most as much as there is room for.
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &figures, &size) == 0 else {
      return 0
    }
    return figures[Int(SK_MEMINFO_DROPS)]
  }
}
