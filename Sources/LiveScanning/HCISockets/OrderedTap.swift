import Scanning

/// A tap that delivers packets in the order of time, because several adapters are read one after
/// the other, and commands are sent while earlier packets wait to be read.
///
/// It holds at most ``maximumBytes``; beyond that it delivers all packets at once.
final class OrderedTap {
  private struct Packet {
    var time: MonotonicTime
    var place: Range<Int>
    var isReceived: Bool
    var adapter: UInt16
  }

  static let maximumBytes = 4 * 1024 * 1024

  private let tap: PacketTap
  private let wallClockOffset: WallClockOffset
  private var packets: [Packet] = []
  private var bytes: [UInt8] = []

  init(_ tap: @escaping PacketTap, _ wallClockOffset: WallClockOffset = KernelClock.currentOffset) {
    self.tap = tap
    self.wallClockOffset = wallClockOffset
  }

  func add(_ packet: RawSpan, at time: MonotonicTime, isReceived: Bool, adapter: UInt16) {
    if bytes.count + packet.byteCount > Self.maximumBytes { handOver() }
    let start = bytes.count
    // The memory is used only during the call.
    unsafe packet.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    packets.append(
      Packet(
        time: time, place: start..<bytes.count, isReceived: isReceived, adapter: adapter))
  }

  /// Delivers the packets up to a time to which every adapter has been read; by default all.
  func handOver(until moment: MonotonicTime = MonotonicTime(nanoseconds: .max)) {
    // Sorting is stable: packets of the same time keep their order.
    packets.sort { $0.time < $1.time }
    let count = packets.firstIndex { $0.time > moment } ?? packets.count
    for packet in packets[..<count] {
      // The array does not change during the call.
      unsafe tap(
        bytes.span.bytes.extracting(packet.place), packet.time.wallClockTime(wallClockOffset),
        packet.isReceived, packet.adapter)
    }
    packets.removeFirst(count)
    guard !packets.isEmpty else { return bytes.removeAll(keepingCapacity: true) }
    var rest: [UInt8] = []
    for index in packets.indices {
      let start = rest.count
      rest += bytes[packets[index].place]
      packets[index].place = start..<rest.count
    }
    bytes = rest
  }
}
