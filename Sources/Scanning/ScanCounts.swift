public import Advertising

/// The numbers of packets and reports that were received, and of refusals.
@frozen
public struct ScanCounts: Sendable {
  /// The number of packets of any kind.
  public var packets = 0
  /// The number of packets with advertising, valid or not: HCI events, and link-layer PDUs.
  public var advertisingPackets = 0
  /// The number of advertising reports, and of PDUs that carry advertising data.
  public var reports = 0
  /// The number of iBeacon frames.
  public var sightings = 0
  @usableFromInline
  var refused = InlineArray<8, Int>(repeating: 0)

  /// Creates counts of zero.
  @inlinable
  public init() {}

  /// The number of refusals for a reason.
  public subscript(refusal: Refusal) -> Int { refused[Int(refusal.rawValue)] }

  package static func += (left: inout Self, right: Self) {
    left.packets += right.packets
    left.advertisingPackets += right.advertisingPackets
    left.reports += right.reports
    left.sightings += right.sightings
    for index in left.refused.indices { left.refused[index] += right.refused[index] }
  }
}
