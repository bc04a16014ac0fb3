public import Advertising

/// The numbers of packets and reports that were received, and that were refused.
@frozen
public struct ScanCounts: Sendable {
  /// Packets of any kind.
  public var packets = 0
  /// Packets that hold advertising: HCI advertising events, and PDUs of the advertising channels, right or not.
  public var advertisingPackets = 0
  /// Advertising reports, and PDUs that carry advertising data.
  public var reports = 0
  /// iBeacon frames.
  public var sightings = 0
  @usableFromInline
  var refused = InlineArray<8, Int>(repeating: 0)

  /// Starts at nothing.
  @inlinable
  public init() {}

  /// How often something was refused for a reason.
  public subscript(refusal: Refusal) -> Int { refused[Int(refusal.rawValue)] }

  /// Adds another source's counts.
  package static func += (left: inout Self, right: Self) {
    left.packets += right.packets
    left.advertisingPackets += right.advertisingPackets
    left.reports += right.reports
    left.sightings += right.sightings
    for index in left.refused.indices { left.refused[index] += right.refused[index] }
  }
}
