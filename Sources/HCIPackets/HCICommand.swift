package import Bytes

/// An HCI command (Core Specification, Vol 4, Part E, §5.4.1).
///
/// ```
/// Opcode (2) | Parameter_Total_Length | parameters
/// ```
package struct HCICommand: Hashable, Sendable {
  package var opcode: Opcode
  /// At most 255 bytes.
  package var parameters: [UInt8]

  package init(_ opcode: Opcode, _ parameters: [UInt8] = []) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// Reads a command whose opcode is at `start`, which is 1 after an H4 packet type.
  package init(_ bytes: RawSpan, at start: Int = 0) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    try cursor.skip(start)
    opcode = Opcode(rawValue: try cursor.readLittleEndian(UInt16.self))
    parameters = try cursor.read(Int(try cursor.readUInt8())).array
  }

  /// The H4 packet: the packet type 0x01 and the command.
  package var packet: [UInt8] {
    [0x01, UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8), UInt8(parameters.count)]
      + parameters
  }
}
