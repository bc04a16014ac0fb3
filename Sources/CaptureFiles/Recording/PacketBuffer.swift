import Bytes
import Scanning

/// Packets that wait to be written, one after the other in one array.
///
/// ```
/// time (8) | length (4) | adapter (2) | received (1) | 0 | packet | …
/// ```
struct PacketBuffer: ~Copyable {
  private var bytes: [UInt8] = []
  private(set) var count = 0

  static let headBytes = 16

  init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  var size: Int { bytes.count }

  @inline(__always)
  mutating func append(
    _ packet: RawSpan, at time: WallClockTime, isReceived: Bool, adapter: UInt16
  ) {
    let tail =
      UInt64(UInt32(clamping: packet.byteCount)) | UInt64(adapter) << 32
      | (isReceived ? 1 << 48 : 0)
    let head = (UInt64(bitPattern: time.nanoseconds).littleEndian, tail.littleEndian)
    // The memory of both is used only during the calls.
    unsafe withUnsafeBytes(of: head) { unsafe bytes.append(contentsOf: $0) }
    unsafe packet.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    count &+= 1
  }

  func forEach(
    _ body: (_ packet: RawSpan, _ time: WallClockTime, _ isReceived: Bool, _ adapter: UInt16) ->
      Void
  ) {
    // The array outlives the walk.
    var cursor = unsafe ByteCursor(bytes.span.bytes)
    while let head = cursor.take(Self.headBytes),
      let packet = cursor.take(Int(head.littleEndian(UInt32.self, at: 8)))
    {
      body(
        packet, WallClockTime(nanoseconds: head.littleEndian(Int64.self, at: 0)),
        head.littleEndian(UInt8.self, at: 14) != 0, head.littleEndian(UInt16.self, at: 12))
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    count = 0
  }
}
