import Dispatch
package import Scanning
import Synchronization

/// A recorder that saves HCI packets, as they are received, in files that survive a power cut.
///
/// A thread writes twice a second, and waits each time until the data is on the disk.
///
/// - **Power cut**: at most one second is lost, or more if a write takes longer than half a second.
///   Files contain only whole packets, except possibly the last one.
/// - **Disk error**: it is reported once. Packets are counted as lost until the error is fixed.
///   Recording then resumes after the last whole packet, or in a new file.
/// - **Memory**: at most ``maximumWaitingBytes`` of packets wait, and as many are being written.
///   Further packets are counted as lost.
package final class CaptureRecorder: Sendable {
  package static let maximumWaitingBytes = 4 * 1024 * 1024
  /// The time between two writes, in nanoseconds.
  package static let period = WallClockTime.nanosecondsPerSecond / 2

  private let channel: Channel

  private final class Channel: Sendable {
    struct Waiting: ~Copyable {
      var packets = PacketBuffer(reserving: 64 * 1024)
      var left: Int
      var dropped = 0
      var isEnding = false
      var waitingCallers = 0
    }

    let waiting: Mutex<Waiting>
    let series: Mutex<RecordingSeries>
    let status: Mutex<RecordingStatus>
    let waitsForDisk: Bool
    // Signals: packets are waiting; write at once; there is room; everything is written.
    let something = DispatchSemaphore(value: 0)
    let hurry = WakeSignal()
    let room = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)

    init(_ series: consuming RecordingSeries) {
      let configuration = series.configuration
      status = Mutex(series.status)
      waiting = Mutex(Waiting(left: configuration.maximumPackets ?? .max))
      waitsForDisk = configuration.waitsForDisk
      self.series = Mutex(series)
    }
  }

  /// Starts a recording. On return the first file exists, except that a rotated recording without a
  /// time creates it with the first packet. `remark` receives each problem once, and its end.
  package init(
    _ configuration: RecordingConfiguration, startingAt wallTime: WallClockTime?,
    remark: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(RecordingError) {
    channel = Channel(
      try RecordingSeries.begin(configuration, at: wallTime, remark: remark))
    let queue = DispatchQueue(label: "beaconscan.recorder")
    queue.async { [channel] in Self.run(channel) }
  }

  deinit { end() }

  /// Records a packet, which begins with its H4 packet type. It does not wait for the disk, unless
  /// ``RecordingConfiguration/waitsForDisk`` is set.
  package func record(
    _ packet: RawSpan, at wallTime: WallClockTime, isReceived: Bool = true, adapter: UInt16 = 0
  ) {
    let size = packet.byteCount + PacketBuffer.headBytes
    var outcome = Outcome.accepted
    repeat {
      outcome = channel.waiting.withLock { waiting in
        guard !waiting.isEnding, waiting.left > 0 else { return .accepted }
        let before = waiting.packets.size
        guard before + size <= Self.maximumWaitingBytes || before == 0 else {
          if channel.waitsForDisk {
            waiting.waitingCallers += 1
            return .mustWait
          }
          waiting.dropped += 1
          return .accepted
        }
        waiting.left -= 1
        waiting.packets.append(packet, at: wallTime, isReceived: isReceived, adapter: adapter)
        if before == 0 { return .first }
        let half = Self.maximumWaitingBytes / 2
        return before < half && before + size >= half ? .half : .accepted
      }
      switch outcome {
      case .accepted: break
      case .first: channel.something.signal()
      case .half: channel.hurry.send()
      case .mustWait:
        channel.hurry.send()
        channel.room.wait()
      }
    } while outcome == .mustWait
  }

  private enum Outcome { case accepted, first, half, mustWait }

  /// The progress, at most half a second old.
  package var status: RecordingStatus { channel.status.withLock { $0 } }

  package var isFull: Bool { channel.waiting.withLock { $0.left == 0 } }

  /// Writes all waiting packets, closes the file, and returns the status. Ignores later packets.
  @discardableResult
  package func finish() -> RecordingStatus {
    end()
    channel.ended.wait()
    // This lets a second call return too.
    channel.ended.signal()
    return status
  }

  private func end() {
    channel.waiting.withLock { $0.isEnding = true }
    channel.something.signal()
    channel.hurry.send()
  }

  private static func run(_ channel: Channel) {
    var packets = PacketBuffer()
    var next: UInt64 = 0
    while true {
      channel.something.wait()
      // Packets gather until half a second after the last write began.
      let now = DispatchTime.now().uptimeNanoseconds
      channel.hurry.wait(nanoseconds: next > now ? Int64(next - now) : 0)
      next = DispatchTime.now().uptimeNanoseconds + UInt64(period)
      let (dropped, isEnding, waitingCallers) = channel.waiting.withLock { waiting in
        swap(&waiting.packets, &packets)
        defer { (waiting.dropped, waiting.waitingCallers) = (0, 0) }
        return (waiting.dropped, waiting.isEnding, waiting.waitingCallers)
      }
      for _ in 0..<waitingCallers { channel.room.signal() }
      let status = channel.series.withLock { series in
        if dropped > 0 { series.drop(dropped) }
        series.write(packets)
        if isEnding { series.finish() }
        return series.status
      }
      packets.removeAll()
      channel.status.withLock { $0 = status }
      if isEnding {
        channel.ended.signal()
        return
      }
    }
  }
}
