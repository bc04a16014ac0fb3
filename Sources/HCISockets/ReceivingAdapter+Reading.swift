import Adapters
import Bytes
import Glibc
import HCIPackets
import Scanning

/// What an adapter's socket receives.
extension ReceivingAdapter {
  /// The most calls of one reading: 2,048 packets, then others have their turn.
  private static let maximumCalls = 32

  /// Reads what waits.
  ///
  /// - Parameters:
  ///   - buffer: Room for it.
  ///   - collector: Collects the adverts.
  ///   - tap: Is shown every packet.
  ///   - now: The time before this reading.
  /// - Returns: The moment up to which everything has been read.
  func read(
    _ buffer: inout MessageBuffer, into collector: inout SightingCollector,
    tap: HCIScanner.PacketTap?, at now: MonotonicTime
  ) -> MonotonicTime {
    guard let index = target.index, let descriptor else { return now }
    let before = collector.counts.reports
    clock.read(at: now, wall: KernelClock.wall)
    collector.adapter = index
    var isGone = false
    var mayHaveMore = true
    var calls = 0
    while mayHaveMore, calls < Self.maximumCalls {
      do throws(HCISocketError) {
        mayHaveMore = try buffer.receive(from: descriptor, adapter: index)
      } catch {
        // The kernel reports it once; what it had queued can still be read.
        if isGone { break }
        isGone = true
      }
      for packet in 0..<buffer.count { handle(packet, of: buffer, &collector, tap, now) }
      calls += 1
    }
    if !mayHaveMore { clock.emptied() }
    if collector.counts.reports > before { change { $0.received(at: now) } }
    if isGone { lost(at: now) }
    return mayHaveMore ? collector.time : now
  }

  private func handle(
    _ number: Int, of buffer: borrowing MessageBuffer, _ collector: inout SightingCollector,
    _ tap: HCIScanner.PacketTap?, _ now: MonotonicTime
  ) {
    let bytes = buffer.packet(number)
    let isReceived = buffer.isReceived(number)
    let stamp = buffer.stamp(number) ?? now.wallClockTime(clock.wallClockOffset)
    collector.counts.packets &+= 1
    collector.time = clock.moment(of: stamp)
    collector.wallTime = stamp
    if let tap, let index = target.index { tap(bytes, stamp, isReceived, index) }
    guard bytes.byteCount >= 3 else { return }
    switch bytes.littleEndian(UInt8.self, at: 0) {
    case 0x04: handle(event: bytes, &collector, now)
    case 0x01 where !isReceived:
      if let command = try? HCICommand(bytes, at: 1) {
        change { $0.sent(byOther: command, at: now) }
      }
    default: break
    }
  }

  private func handle(
    event bytes: RawSpan, _ collector: inout SightingCollector, _ now: MonotonicTime
  ) {
    switch bytes.littleEndian(UInt8.self, at: 1) {
    case 0x3E:
      // LE Scan Timeout (§7.7.65.17): a scan of another program that was to last for a while.
      if bytes.byteCount > 3, bytes.littleEndian(UInt8.self, at: 3) == 0x11 {
        return change { $0.scanEnded(at: now) }
      }
      let first = collector.sightings.count
      collector.receive(event: bytes, at: 1)
      if offset != 0 {
        for index in first..<collector.sightings.count {
          collector.sightings[index].subtract(offset: offset)
        }
      }
    case 0x0E, 0x0F:
      guard let result = CommandResult(bytes, at: 1) else { return }
      let received = collector.time
      change { $0.answered(result, received: received, at: now) }
    case 0x10 where bytes.byteCount > 3:
      let code = bytes.littleEndian(UInt8.self, at: 3)
      change { $0.hardwareError(code, at: now) }
    default: break
    }
  }

  /// Its socket's number in this process.
  var descriptor: Int32? {
    switch socket {
    case .some(let socket): socket.descriptor
    case .none: nil
    }
  }

  /// What to poll; -1, which the system passes over, while it is closed.
  var polled: pollfd { pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0) }
}
