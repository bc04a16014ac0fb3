import CBluetooth
import Glibc
import HCIPackets

extension HCISocket {
  /// Has the kernel pass on nothing but the answers to one command.
  func filter(forAnswersTo opcode: Opcode) throws(HCISocketError) {
    try filter(events: [EVT_CMD_COMPLETE, EVT_CMD_STATUS], opcode: opcode)
  }

  /// Has the kernel pass on some kinds of events alone.
  ///
  /// - Parameters:
  ///   - events: Their codes. To a process without `CAP_NET_RAW` the kernel gives fewer, and says nothing.
  ///   - opcode: Of answers to commands, those to this one; 0 for all.
  ///   - commands: Whether it passes on what other programs send to the controller, too.
  /// - Throws: ``HCISocketError``.
  func filter(
    events: [Int32], opcode: Opcode = Opcode(rawValue: 0), commands: Bool = false
  ) throws(HCISocketError) {
    var mask: UInt64 = 0
    for event in events { mask |= 1 << UInt64(event & HCI_FLT_EVENT_BITS) }
    var filter = hci_filter()
    filter.type_mask = 1 << UInt32(HCI_EVENT_PKT)
    if commands { filter.type_mask |= 1 << UInt32(HCI_COMMAND_PKT) }
    filter.event_mask = (UInt32(truncatingIfNeeded: mask), UInt32(mask >> 32))
    // The kernel compares with the opcode as the packet carries it.
    filter.opcode = opcode.rawValue.littleEndian
    let size = socklen_t(MemoryLayout<hci_filter>.size)
    // The structure outlives the call.
    guard unsafe setsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, size) == 0 else {
      throw HCISocketError("setsockopt", adapter: adapter)
    }
  }
}
