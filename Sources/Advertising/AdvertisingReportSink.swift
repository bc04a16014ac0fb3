/// Takes the reports that a decoder finds, one call each, in the order of the bytes, and is told of
/// whatever the decoder refuses.
///
/// The report's bytes are the decoder's and live only until the call returns. Conforming types are
/// passed as `inout some AdvertisingReportSink`, so that the calls are specialised and inlined.
public protocol AdvertisingReportSink: ~Copyable {
  /// Hears one report.
  mutating func heard(_ report: AdvertisingReport)

  /// Is told that something was not taken for a report, or for a beacon, and why.
  mutating func refused(_ refusal: Refusal)
}

/// Why something that looked like a report or a beacon was not taken for one.
@frozen
public enum Refusal: UInt8, CaseIterable, Hashable, Sendable, BitwiseCopyable {
  /// A link-layer PDU whose CRC-24 is wrong.
  case badCRC
  /// A packet that ends before its own length says, or before its headers do.
  case truncatedPacket
  /// An HCI event or a PDU whose inner lengths contradict each other.
  case malformedPacket
  /// An extended report of which fragments are missing, or that the controller truncated.
  case incompleteReport
  /// An AD structure whose length runs past the advertising data.
  case malformedADStructure
  /// Apple's beacon type with a length that is not an iBeacon's.
  case malformedIBeacon
  /// A packet of a kind that holds no Bluetooth LE advertising, in a capture that mixes kinds.
  case unsupportedPacket
}

extension Refusal: CustomStringConvertible {
  /// The reason's name, as reports and JSON show it.
  public var description: String {
    switch self {
    case .badCRC: "badCRC"
    case .truncatedPacket: "truncatedPacket"
    case .malformedPacket: "malformedPacket"
    case .incompleteReport: "incompleteReport"
    case .malformedADStructure: "malformedADStructure"
    case .malformedIBeacon: "malformedIBeacon"
    case .unsupportedPacket: "unsupportedPacket"
    }
  }
}
