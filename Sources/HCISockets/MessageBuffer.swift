import Adapters
import CBluetooth
import Glibc
import Scanning

/// Room for what one system call receives: 64 packets of up to 1,028 bytes, the longest that HCI has but
/// for data, which is cut. 66 KB, taken once.
@safe struct MessageBuffer: ~Copyable {
  /// How many packets the latest call received.
  private(set) var count = 0

  private let packets: UnsafeMutableRawPointer
  private let lengths: UnsafeMutablePointer<Int32>
  private let stamps: UnsafeMutablePointer<Int64>
  private let incoming: UnsafeMutablePointer<UInt8>

  /// The most packets that one call receives.
  static var capacity: Int { 64 }
  private static var stride: Int { 1028 }

  init() {
    // Each array is as long as the one call below assumes.
    unsafe packets = .allocate(byteCount: Self.capacity * Self.stride, alignment: 8)
    unsafe lengths = .allocate(capacity: Self.capacity)
    unsafe stamps = .allocate(capacity: Self.capacity)
    unsafe incoming = .allocate(capacity: Self.capacity)
    unsafe lengths.initialize(repeating: 0, count: Self.capacity)
    unsafe stamps.initialize(repeating: -1, count: Self.capacity)
    unsafe incoming.initialize(repeating: 0, count: Self.capacity)
  }

  deinit {
    unsafe packets.deallocate()
    unsafe lengths.deallocate()
    unsafe stamps.deallocate()
    unsafe incoming.deallocate()
  }

  /// Receives what waits, at most ``capacity`` packets, without waiting.
  ///
  /// - Returns: Whether there may be more; `false` where the queue was emptied.
  /// - Throws: ``HCISocketError``: `EPIPE` where the adapter is gone.
  mutating func receive(from descriptor: Int32, adapter: UInt16) throws(HCISocketError) -> Bool {
    count = 0
    let received = unsafe cbluetooth_receive(
      descriptor, packets.assumingMemoryBound(to: UInt8.self), Int32(Self.stride),
      Int32(Self.capacity), lengths, stamps, incoming)
    guard received >= 0 else {
      if errno == EAGAIN || errno == EINTR { return false }
      throw HCISocketError("recvmmsg", adapter: adapter)
    }
    count = Int(received)
    return count == Self.capacity
  }

  /// A packet of the latest call, with its H4 packet type in front.
  ///
  /// - Precondition: `index` is less than ``count``.
  @_lifetime(borrow self)
  borrowing func packet(_ index: Int) -> RawSpan {
    precondition(index < count)
    let length = unsafe min(Int(lengths[index]), Self.stride)
    let bytes = unsafe UnsafeRawBufferPointer(
      start: packets + index * Self.stride, count: max(length, 0))
    // The memory is the buffer's.
    return unsafe _overrideLifetime(bytes.bytes, borrowing: self)
  }

  /// When the kernel took it, as wall-clock time; `nil` where it gave none.
  func stamp(_ index: Int) -> WallClockTime? {
    precondition(index < count)
    let microseconds = unsafe stamps[index]
    guard microseconds >= 0 else { return nil }
    return WallClockTime(nanoseconds: 0).advanced(
      by: microseconds.multipliedReportingOverflow(by: 1000).partialValue)
  }

  /// Whether it came from the controller.
  func isReceived(_ index: Int) -> Bool {
    precondition(index < count)
    return unsafe incoming[index] != 0
  }
}
