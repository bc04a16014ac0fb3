import Advertising
import Bytes
import HCIPackets

/// The kind of the bytes given to `decode`.
enum DecodeInput: String, CaseIterable {
  /// Recognized by the bytes.
  case auto
  /// Advertising data: AD structures.
  case ad
  /// Manufacturer-specific data from the company identifier on.
  case manufacturer
  /// An HCI packet with its H4 type.
  case h4
  /// A link-layer packet from its access address to its CRC.
  case ll
  /// The parameters of HCI_LE_Set_Advertising_Data: a length, then 31 bytes.
  case command

  static func guess(_ bytes: [UInt8]) -> DecodeInput {
    if bytes.count > 3, bytes[0] == 0x04, Int(bytes[2]) == bytes.count - 3 { return .h4 }
    if bytes.count > 4, bytes[0] == 0x01, Int(bytes[3]) == bytes.count - 4 { return .h4 }
    if bytes.starts(with: [0xD6, 0xBE, 0x89, 0x8E]) { return .ll }
    if bytes.count == 32, bytes[0] <= 31, isWellFormed(bytes[1..<(1 + Int(bytes[0]))]) {
      return .command
    }
    if isWellFormed(bytes[...]) { return .ad }
    if bytes.starts(with: [0x4C, 0x00]) || bytes.dropFirst(2).starts(with: [0x02, 0x15])
      || bytes.dropFirst(2).starts(with: [0xBE, 0xAC])
    {
      return .manufacturer
    }
    return .ad
  }

  private static func isWellFormed(_ bytes: ArraySlice<UInt8>) -> Bool {
    let copy = Array(bytes)
    // The span is over initialized bytes and does not outlive the array.
    var structures = unsafe ADStructures(copy.span.bytes)
    do throws(ParseError) {
      while let structure = try structures.next() {
        // A list of 16-bit UUIDs cannot have an odd length.
        if (2...3).contains(structure.type.rawValue), structure.data.byteCount % 2 != 0 {
          return false
        }
      }
      return true
    } catch {
      return false
    }
  }
}
