public import Advertising

/// A function that receives every HCI packet in the order of time, for a recording of them: it must be quick, and copy
/// what it keeps.
///
/// - Parameters:
///   - packet: The packet with its H4 packet type in front.
///   - wallTime: When it was sent or received. Live, this is the monotonic clock, shifted to the wall-clock time at which the
///     scanner was created, so that a wall clock that is set moves no packet; in a replay it is the recorded time.
///   - isReceived: Whether it came from the controller.
///   - adapter: The adapter's index.
public typealias PacketTap =
  @Sendable (
    _ packet: RawSpan, _ wallTime: WallClockTime, _ isReceived: Bool, _ adapter: UInt16
  ) -> Void

/// A function that receives every advertising report, of whatever kind of advert, as it is read, which in a paced replay
/// is before it is played: the report, when it was received on both lines, and the adapter's index. It must be quick, and
/// copy what it keeps.
@usableFromInline
package typealias ReportTap =
  @Sendable (
    _ report: AdvertisingReport, _ time: MonotonicTime, _ wallTime: WallClockTime, _ adapter: UInt16
  ) -> Void
