public import Advertising

/// A function that receives every HCI packet in the order of time, for recording. It must be quick,
/// and copy what it keeps.
///
/// - Parameters:
///   - packet: The packet, with its H4 packet type in front.
///   - wallTime: The time of sending or receiving. Live, this is the monotonic clock, shifted to
///     the wall-clock time at the scanner's creation, so that setting the wall clock moves no
///     packet; in a replay it is the recorded time.
///   - isReceived: Whether the packet came from the controller.
///   - adapter: The adapter's index.
public typealias PacketTap =
  @Sendable (
    _ packet: RawSpan, _ wallTime: WallClockTime, _ isReceived: Bool, _ adapter: UInt16
  ) -> Void

/// A function that receives every advertising report when it is read, which in a paced replay is
/// before it is played. It must be quick, and copy what it keeps.
@usableFromInline
package typealias ReportTap =
  @Sendable (
    _ report: AdvertisingReport, _ time: MonotonicTime, _ wallTime: WallClockTime, _ adapter: UInt16
  ) -> Void
