/// A function that receives every HCI packet as it passes, for a recording of them: it must be quick, and copy
/// what it keeps.
///
/// - Parameters:
///   - packet: The packet with its H4 packet type in front.
///   - wallTime: When it was sent or received, by the wall clock.
///   - isReceived: Whether it came from the controller.
///   - adapter: The adapter's index.
public typealias PacketTap =
  @Sendable (
    _ packet: RawSpan, _ wallTime: WallClockTime, _ isReceived: Bool, _ adapter: UInt16
  ) -> Void
