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
