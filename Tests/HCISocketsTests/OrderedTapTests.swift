import Bytes
import Scanning
import Synchronization
import Testing

@testable import LiveScanning

/// The order in which a tap is given packets.
@Suite struct OrderedTapTests {
  private struct Packet: Equatable {
    var byte: UInt8
    /// Milliseconds since 1970.
    var wall: Int64
    var isReceived = true
    var adapter: UInt16 = 0
  }

  private final class Record: Sendable {
    let packets = Mutex<[Packet]>([])
    var all: [Packet] { packets.withLock { $0 } }
    var bytes: [UInt8] { all.map(\.byte) }
  }

  private func make(_ record: Record) -> OrderedTap {
    OrderedTap(
      { bytes, wall, isReceived, adapter in
        let packet = Packet(
          byte: bytes.littleEndian(UInt8.self, at: 0), wall: wall.nanoseconds / 1_000_000,
          isReceived: isReceived, adapter: adapter)
        record.packets.withLock { $0.append(packet) }
      }, WallClockOffset(nanoseconds: 1_000_000_000))
  }

  private func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  private func add(
    _ byte: UInt8, at milliseconds: Int64, sent: Bool = false, adapter: UInt16 = 0, size: Int = 3,
    to tap: OrderedTap
  ) {
    let bytes = [UInt8](repeating: byte, count: size)
    // The array outlives the call.
    unsafe tap.add(bytes.span.bytes, at: time(milliseconds), isReceived: !sent, adapter: adapter)
  }

  /// A command that is sent while earlier packets wait to be read comes behind them, and its answer behind it.
  @Test func aCommandStandsWhereItWasSent() {
    let record = Record()
    let tap = make(record)
    add(1, at: 20, sent: true, to: tap)
    tap.handOver(until: time(10))
    #expect(record.all.isEmpty, "an earlier packet may come")
    for (byte, moment) in [(2, 12), (3, 15), (4, 21)] as [(UInt8, Int64)] {
      add(byte, at: moment, to: tap)
    }
    tap.handOver(until: time(25))
    #expect(
      record.all == [
        Packet(byte: 2, wall: 1012), Packet(byte: 3, wall: 1015),
        Packet(byte: 1, wall: 1020, isReceived: false), Packet(byte: 4, wall: 1021),
      ])
  }

  /// Adapters are read one after the other, and one of them not to its end.
  @Test func adaptersAreMerged() {
    let record = Record()
    let tap = make(record)
    for (byte, moment) in [(1, 10), (3, 30), (5, 50)] as [(UInt8, Int64)] {
      add(byte, at: moment, to: tap)
    }
    for (byte, moment) in [(2, 20), (4, 40)] as [(UInt8, Int64)] {
      add(byte, at: moment, adapter: 1, to: tap)
    }
    tap.handOver(until: time(40))
    #expect(record.bytes == [1, 2, 3, 4])
    #expect(record.all.map(\.adapter) == [0, 1, 0, 1])
    add(6, at: 45, adapter: 1, to: tap)
    tap.handOver()
    #expect(record.bytes == [1, 2, 3, 4, 6, 5])
  }

  @Test func memoryIsBounded() {
    let record = Record()
    let tap = make(record)
    let count = OrderedTap.maximumBytes / 1024 + 1
    for index in 0..<count { add(1, at: Int64(index), size: 1024, to: tap) }
    #expect(record.all.count == count - 1)
    tap.handOver()
    #expect(record.all.count == count, "none is lost")
  }
}
