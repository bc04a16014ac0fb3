import Dispatch
package import Scanning
import Synchronization

/// Saves HCI packets as they are received, in files that outlive a power cut.
///
/// ``record(_:at:isReceived:adapter:)`` copies a packet into memory and returns; a thread of the
/// recorder's own writes twice a second, and waits each time until the disk has it. So:
///
/// - **A power cut loses a second at most**, as long as a write lasts half a second at most;
///   one that lasts longer loses that much more. The files hold whole packets, but for the last one.
/// - **A full disk, a directory that is gone, a disk that fails** is said once, by a sentence. Packets are
///   counted as lost until there is room; then recording goes on behind the last whole packet, or in a new
///   file where the old one is gone. Callers notice nothing.
/// - **Memory has a bound**: ``maximumWaitingBytes`` of packets wait, as many are being written, and their arrays
///   are at most twice as large. Packets that come while a disk stands still for longer are counted as lost.
/// - **The disk has a bound** where ``RecordingConfiguration/maximumBytes`` and
///   ``RecordingConfiguration/maximumFiles`` set it.
package final class CaptureRecorder: Sendable {
  /// How many bytes of packets wait to be written, at most.
  package static let maximumWaitingBytes = 4 * 1024 * 1024
  /// The time between two writes, in nanoseconds.
  package static let period = WallClockTime.nanosecondsPerSecond / 2

  private let channel: Channel

  /// What both threads use.
  private final class Channel: Sendable {
    struct Waiting: ~Copyable {
      var packets = PacketBuffer(reserving: 64 * 1024)
      /// How many packets may still come.
      var left: Int
      var dropped = 0
      var isEnding = false
      /// The number of callers that wait for room.
      var waitingCallers = 0
    }

    let waiting: Mutex<Waiting>
    let series: Mutex<RecordingSeries>
    let status: Mutex<RecordingStatus>
    let waitsForDisk: Bool
    /// There is something to be written; it cannot wait; there is room; all is written.
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

  /// Begins a recording: its first file is there when it returns, but that of a rotated recording without a time comes
  /// with its first packet. `remark` receives, on a thread of the recorder's own, what a person should know: what is wrong,
  /// once, and that it is well again.
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

  /// Records a packet. It never waits for the disk, unless ``RecordingConfiguration/waitsForDisk`` asks for
  /// that; nor does it allocate, once its memory has grown to what half a second needs.
  /// The packet has its H4 packet type in front.
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

  /// How far it has come; at most half a second old.
  package var status: RecordingStatus { channel.status.withLock { $0 } }

  /// Whether as many packets were recorded as ``RecordingConfiguration/maximumPackets`` allows.
  package var isFull: Bool { channel.waiting.withLock { $0.left == 0 } }

  /// Writes what waits, closes the file, and returns what became of the packets. Packets that come later are
  /// ignored.
  @discardableResult
  package func finish() -> RecordingStatus {
    end()
    channel.ended.wait()
    // A second call returns too.
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
