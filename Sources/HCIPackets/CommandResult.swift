import Bytes

/// Command Complete or Command Status (Core Specification, Vol 4, Part E, §7.7.14 and §7.7.15).
///
/// ```
/// 0x0E | length | Num_HCI_Command_Packets | Command_Opcode (2) | Status | more return parameters
/// 0x0F | length | Status | Num_HCI_Command_Packets | Command_Opcode (2)
/// ```
package struct CommandResult: ~Escapable {
  package let opcode: Opcode
  /// 0 for success, else the controller's error code (Vol 1, Part F).
  package let status: UInt8
  /// The return parameters after the status; empty in a Command Status.
  package let parameters: RawSpan

  /// Reads an event whose code is at `start`; returns `nil` if it is of another kind or too short.
  @_lifetime(copy bytes)
  package init?(_ bytes: RawSpan, at start: Int = 0) {
    guard start >= 0, start + 6 <= bytes.byteCount else { return nil }
    switch bytes.littleEndian(UInt8.self, at: start) {
    case 0x0E:
      opcode = Opcode(rawValue: bytes.littleEndian(UInt16.self, at: start + 3))
      status = bytes.littleEndian(UInt8.self, at: start + 5)
      parameters = bytes.extracting(droppingFirst: start + 6)
    case 0x0F:
      status = bytes.littleEndian(UInt8.self, at: start + 2)
      opcode = Opcode(rawValue: bytes.littleEndian(UInt16.self, at: start + 4))
      parameters = bytes.extracting(first: 0)
    default: return nil
    }
  }

  package static var unknownCommand: UInt8 { 0x01 }
  package static var commandDisallowed: UInt8 { 0x0C }
}
