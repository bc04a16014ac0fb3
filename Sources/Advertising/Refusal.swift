/// The reason for refusing data that looked like a report or a beacon. Reports and JSON have its
/// case's name.
@frozen
public enum Refusal: UInt8, Error, CaseIterable, Hashable, Sendable, BitwiseCopyable {
  /// A link-layer PDU whose CRC-24 is wrong.
  case badCRC
  /// A packet that is shorter than its headers or its stated length.
  case truncatedPacket
  /// An HCI event or a PDU whose inner lengths contradict each other.
  case malformedPacket
  /// An extended report with missing fragments, or one that the controller truncated.
  case incompleteReport
  /// An AD structure whose length runs past the advertising data.
  case malformedADStructure
  /// Apple's beacon type with a length that is not an iBeacon's.
  case malformedIBeacon
  /// A packet of a kind that carries no Bluetooth LE advertising, in a capture of mixed kinds.
  case unsupportedPacket
}
