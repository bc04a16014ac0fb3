import Glibc
import Scanning

#if RawHCI
  import CBluetooth
#endif

/// A buffer for the packets of one system call: 64 of up to 1,028 bytes, the longest in HCI except
/// data, which is truncated. It takes 66 KB once.
struct MessageBuffer: ~Copyable {
  private(set) var count = 0

  private var packets = [UInt8](repeating: 0, count: capacity * stride)
  private var lengths = [Int32](repeating: 0, count: capacity)
  private var stamps = [Int64](repeating: -1, count: capacity)
  private var incoming = [UInt8](repeating: 0, count: capacity)

  static var capacity: Int { 64 }
  private static var stride: Int { 1028 }

  /// Receives pending packets; returns whether there may be more. Throws `EPIPE` without the
  /// adapter.
  mutating func receive(from descriptor: Int32, adapter: UInt16) throws(HCISocketError) -> Bool {
    count = 0
    #if RawHCI
      // Each array is as long as the call assumes, and used only during it.
      let received = unsafe cbluetooth_receive(
        descriptor, &packets, Int32(Self.stride), Int32(Self.capacity), &lengths, &stamps, &incoming
      )
      guard received >= 0 else {
        if errno == EAGAIN || errno == EINTR { return false }
        throw HCISocketError("recvmmsg", adapter: adapter)
      }
      // No packet is empty, so this is the end.
      if received > 0, lengths[0] == 0 {
        throw HCISocketError("recvmmsg", errno: EPIPE, adapter: adapter)
      }
      count = Int(received)
      return count == Self.capacity
    #else
      throw .notBuiltIn
    #endif
  }

  /// Returns a packet of the latest call, with its H4 packet type in front.
  ///
  /// - Precondition: `index` is less than ``count``.
  @_lifetime(borrow self)
  borrowing func packet(_ index: Int) -> RawSpan {
    precondition(index < count)
    let length = min(max(Int(lengths[index]), 0), Self.stride)
    let start = index * Self.stride
    // The bytes belong to the buffer.
    return unsafe _overrideLifetime(
      packets.span.bytes.extracting(start..<(start + length)), borrowing: self)
  }

  /// Returns the wall-clock time at which the kernel took a packet, or `nil`.
  func stamp(_ index: Int) -> WallClockTime? {
    precondition(index < count)
    let microseconds = stamps[index]
    guard microseconds >= 0 else { return nil }
    return WallClockTime(nanoseconds: 0).advanced(
      by: microseconds.multipliedReportingOverflow(by: 1000).partialValue)
  }

  func isReceived(_ index: Int) -> Bool {
    precondition(index < count)
    return incoming[index] != 0
  }
}
