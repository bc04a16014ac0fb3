import Dispatch
import Scanning
import Synchronization

/// Reads a capture on a thread of its own, a few batches ahead of who takes them, so that decoding
/// and what comes after it share two processors.
///
/// At most ``depth`` batches of about 1,024 sightings are on the way.
final class ReadAhead {
  /// Some sightings in order, and where the reading stood behind them.
  struct Batch: Sendable {
    var sightings: [Sighting]
    var status: CaptureStatus
    var progress: CaptureReader.Progress
    /// What is wrong with the capture behind these sightings.
    var failure: CaptureError?
  }

  private static let depth = 3
  /// How long a file that may grow is left alone, and the longest wait for a batch.
  private static let patience = DispatchTimeInterval.milliseconds(100)

  private let channel = Channel()

  /// What both threads use.
  private final class Channel: Sendable {
    struct State {
      var filled: [Batch] = []
      var spare: [[Sighting]] = []
      var isCancelled = false
    }

    let state = Mutex(State())
    /// How many batches wait to be taken, and how many more may be made.
    let filled = DispatchSemaphore(value: 0)
    let free = DispatchSemaphore(value: 0)
    /// Ends the rest of the reading thread.
    let cancelled = DispatchSemaphore(value: 0)
  }

  /// Starts reading.
  init(_ reader: CaptureReader) {
    for _ in 0..<Self.depth { channel.free.signal() }
    let queue = DispatchQueue(label: "beaconscan.capture")
    queue.async { [channel] in Self.run(reader, channel) }
  }

  deinit {
    channel.state.withLock { $0.isCancelled = true }
    channel.free.signal()
    channel.cancelled.signal()
  }

  /// Takes the next batch, and gives an array that is no longer needed to be filled again. After the
  /// last batch, do not ask again.
  ///
  /// - Returns: `nil` where none comes for a tenth of a second: a pipe may be silent for long, and who
  ///   asks may have other things to do.
  func next(reusing used: consuming [Sighting]) -> Batch? {
    guard channel.filled.wait(timeout: .now() + Self.patience) == .success else { return nil }
    used.removeAll(keepingCapacity: true)
    let batch = channel.state.withLock { state in
      // Handed over, not shared: only its one holder can use an array's memory again.
      state.spare.append([])
      swap(&state.spare[state.spare.count - 1], &used)
      return state.filled.removeFirst()
    }
    channel.free.signal()
    return batch
  }

  private static func run(_ reader: CaptureReader, _ channel: Channel) {
    var collector = SightingCollector()
    while true {
      channel.free.wait()
      guard let spare = channel.state.withLock({ $0.isCancelled ? nil : $0.spare.popLast() ?? [] })
      else { return }
      collector.sightings = consume spare
      var progress = CaptureReader.Progress.end
      var failure: CaptureError?
      do throws(CaptureError) {
        progress = try reader.read(into: &collector)
      } catch {
        failure = error
      }
      if progress == .end { collector.finish() }
      var sightings: [Sighting] = []
      swap(&sightings, &collector.sightings)
      let batch = Batch(
        sightings: sightings, status: reader.status(collector.counts), progress: progress,
        failure: failure)
      channel.state.withLock { $0.filled.append(batch) }
      channel.filled.signal()
      if progress == .end { return }
      if progress == .caughtUp {
        guard channel.cancelled.wait(timeout: .now() + patience) == .timedOut else { return }
      }
    }
  }
}
