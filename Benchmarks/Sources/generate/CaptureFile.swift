import Glibc

/// A capture file that is written packet by packet: HCI with its H4 packet type in front.
final class CaptureFile {
  /// The formats that are written.
  enum Format: String, CaseIterable {
    /// Big-endian records, as BlueZ and phones write them.
    case btsnoop
    /// Little-endian, microseconds.
    case pcap
    /// Little-endian, one interface, Enhanced Packet Blocks.
    case pcapng
  }

  private let format: Format
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private static let capacity = 1 << 20

  /// Creates a file; `nil` where that cannot be.
  init?(path: String, format: Format) {
    self.format = format
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { return nil }
    buffer.reserveCapacity(Self.capacity + 1024)
    switch format {
    case .btsnoop:
      buffer += Array("btsnoop\0".utf8)
      big(1, octets: 4)
      big(1002, octets: 4)
    case .pcap:
      for value: UInt64 in [0xA1B2_C3D4, 0x0004_0002, 0, 0, 262_144, 187] {
        little(value, octets: 4)
      }
    case .pcapng:
      for value: UInt64 in [
        0x0A0D_0D0A, 28, 0x1A2B_3C4D, 1, 0xFFFF_FFFF, 0xFFFF_FFFF, 28,
        1, 20, 187, 0, 20,
      ] {
        little(value, octets: 4)
      }
    }
  }

  /// Appends a packet at a moment in microseconds since 1970.
  func write(_ packet: [UInt8], at time: UInt64, isReceived: Bool = true) {
    let count = UInt64(packet.count)
    switch format {
    case .btsnoop:
      big(count, octets: 4)
      big(count, octets: 4)
      big(isReceived ? 3 : 2, octets: 4)
      big(0, octets: 4)
      big(time + 0x00DC_DDB3_0F2F_8000, octets: 8)
      buffer += packet
    case .pcap:
      little(time / 1_000_000, octets: 4)
      little(time % 1_000_000, octets: 4)
      little(count, octets: 4)
      little(count, octets: 4)
      buffer += packet
    case .pcapng:
      let padding = (4 - packet.count % 4) % 4
      let total = UInt64(32 + packet.count + padding)
      for value in [6, total, 0, time >> 32, time & 0xFFFF_FFFF, count, count] {
        little(value, octets: 4)
      }
      buffer += packet
      for _ in 0..<padding { buffer.append(0) }
      little(total, octets: 4)
    }
    if buffer.count >= Self.capacity { flush() }
  }

  /// Writes what is left.
  func flush() {
    var start = 0
    while start < buffer.count {
      let count = unsafe buffer[start...].withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { fatalError("cannot write: \(errno)") }
      start += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func big(_ value: UInt64, octets: Int) {
    for index in (0..<octets).reversed() {
      buffer.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  private func little(_ value: UInt64, octets: Int) {
    for index in 0..<octets { buffer.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }
}
