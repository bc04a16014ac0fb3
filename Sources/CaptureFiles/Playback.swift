package import Clocks
import Dispatch
import Glibc
import Scanning
package import Sources

/// A recording that ``Playback`` plays: a capture or a track.
package protocol Recording: AnyObject {
  associatedtype Input: Sendable
  associatedtype Health: SourceHealth

  var inputs: [Input] { get set }
  /// The index of the first input that is not delivered yet.
  var next: Int { get set }

  /// Appends to ``inputs``, without waiting for a pipe. Throws at the first invalid byte, after
  /// everything before it is appended.
  func read() throws -> ReadingProgress
  func wait()
  /// Notifies the recording that all inputs are delivered, before a read that may be far ahead.
  func willReadAhead()

  /// The time of the first input, or of earlier content; `nil` while unknown.
  var firstTime: MonotonicTime? { get }
  var time: MonotonicTime { get }
  /// The offset from the playback's time to the recording's wall-clock time, for the latest read.
  var wallClockOffset: WallClockOffset { get }

  static func time(of input: Input) -> MonotonicTime
}

extension Recording {
  package func willReadAhead() {}

  package var isEmpty: Bool { next == inputs.count }
}

package enum ReadingProgress: Sendable {
  case more
  case caughtUp
  case end
}

/// A player of recordings of one kind, which merges their inputs by time.
package struct Playback<Reel: Recording> {
  package typealias Progress = SourceProgress<Reel.Health>

  package let recordings: [Reel]
  package var factor: Double?

  private let duration: Int64?
  /// Whether each recording is at its end, and its error there.
  private var isAtEnd: [Bool]
  private var failures: [(any Error)?]
  private var pacer: Pacer?
  private var held: [Reel.Input] = []
  private var next = 0
  /// Whether reading may wait for a pipe; `false` while inputs that are due would wait with it.
  private var mayWait = true
  /// The progress of reading, and the time up to which inputs were delivered.
  private var progress = Progress()
  private var given: MonotonicTime?

  /// Prepares to play recordings; inputs at one time are delivered in their order. Without a
  /// `factor` there is no delay. `duration` is in nanoseconds; `nil` for all.
  package init(_ recordings: [Reel], factor: Double?, duration: Int64?) {
    self.recordings = recordings
    self.factor = factor
    self.duration = duration
    isAtEnd = recordings.map { _ in false }
    failures = recordings.map { _ in nil }
  }

  package var isHolding: Bool { factor != nil && given != progress.reached }

  /// Stops the time of paced recordings until the next call of ``receive(until:into:)``.
  package mutating func rest() { pacer = nil }

  package mutating func readFirst() {
    for index in recordings.indices {
      while recordings[index].isEmpty, !isAtEnd[index], advance(index) {}
    }
  }

  /// Reads more inputs, which have one wall-clock offset, that of the progress. Throws the error of
  /// a recording after everything valid before it in every recording.
  package mutating func receive(
    until deadline: MonotonicTime?, into inputs: inout [Reel.Input]
  ) throws -> Progress {
    if let factor { return try pace(factor, until: deadline, into: &inputs) }
    try read(into: &inputs)
    return progress
  }

  private mutating func read(into inputs: inout [Reel.Input]) throws {
    inputs.removeAll(keepingCapacity: true)
    if recordings.count == 1 {
      readOne(recordings[0], into: &inputs)
    } else {
      merge(into: &inputs)
    }
    let isAtEnd = recordings.indices.allSatisfy { self.isAtEnd[$0] && recordings[$0].isEmpty }
    let failure = failures.lazy.compactMap(\.self).first
    if isAtEnd, inputs.isEmpty, let failure { throw failure }
    // An error is reported after the last inputs.
    progress.isOver = isAtEnd && failure == nil
    // The first time is known once every recording has reached its first input.
    guard
      recordings.indices.allSatisfy({ recordings[$0].firstTime != nil || self.isAtEnd[$0] }),
      let first = recordings.compactMap(\.firstTime).min()
    else { return }
    progress.began = first
    let last = inputs.last.map(Reel.time) ?? first
    var reached = max(progress.reached ?? first, last)
    // A single recording, or all at their end, may have been read past the last input.
    if recordings.count == 1 || isAtEnd {
      reached = max(reached, recordings.lazy.map(\.time).max() ?? reached)
    }
    if let limit = duration.map({ first.advanced(by: $0) }) {
      while let last = inputs.last, Reel.time(of: last) >= limit { inputs.removeLast() }
      // At the end, the duration has passed even if the last input came earlier.
      reached = progress.isOver ? limit : min(reached, limit)
    }
    progress.reached = reached
  }

  /// Reads a recording's next inputs; returns `false` if what comes next is not available yet.
  private mutating func advance(_ index: Int) -> Bool {
    let recording = recordings[index]
    recording.inputs.removeAll(keepingCapacity: true)
    recording.next = 0
    guard !isAtEnd[index] else { return true }
    do {
      switch try recording.read() {
      case .more: return true
      case .caughtUp: return !recording.inputs.isEmpty
      case .end: break
      }
    } catch {
      failures[index] = error
    }
    isAtEnd[index] = true
    return true
  }

  private mutating func readOne(_ recording: Reel, into inputs: inout [Reel.Input]) {
    if recording.isEmpty {
      // The recording reads its batch into the memory of the previous one.
      swap(&recording.inputs, &inputs)
      if !advance(0), mayWait { recording.wait() }
    }
    progress.wallClockOffset = recording.wallClockOffset
    swap(&recording.inputs, &inputs)
  }

  private mutating func merge(into inputs: inout [Reel.Input]) {
    // The time of each recording's next input; `nil` if it has none.
    var heads = recordings.map(\.nextTime)
    // Paced playback does not read ahead, so the counts match the delivered inputs.
    while inputs.count < (factor == nil ? CaptureReader.batch : 1) {
      var earliest: (index: Int, time: MonotonicTime)?
      // The next input of every recording must be known before one is delivered.
      for index in heads.indices {
        while heads[index] == nil, !isAtEnd[index] {
          guard advance(index) else {
            if inputs.isEmpty, mayWait { recordings[index].wait() }
            return
          }
          heads[index] = recordings[index].nextTime
        }
        guard let time = heads[index] else { continue }
        if earliest.map({ time < $0.time }) ?? true { earliest = (index, time) }
      }
      guard let index = earliest?.index else { return }
      let recording = recordings[index]
      let offset = recording.wallClockOffset
      guard inputs.isEmpty || offset == progress.wallClockOffset else { return }
      progress.wallClockOffset = offset
      inputs.append(recording.inputs[recording.next])
      recording.next += 1
      heads[index] = recording.nextTime
    }
  }

  /// Delivers the inputs that are due, or waits a little if there are none.
  private mutating func pace(
    _ factor: Double, until deadline: MonotonicTime?, into inputs: inout [Reel.Input]
  ) throws -> Progress {
    inputs.removeAll(keepingCapacity: true)
    var shown = progress
    repeat {
      if next == held.count, given == progress.reached, !progress.isOver {
        mayWait = inputs.isEmpty
        do {
          try readAhead()
        } catch {
          guard !inputs.isEmpty else { throw error }
          // The error is thrown again after these inputs are delivered.
          return shown
        }
      }
      guard let reached = progress.reached else { return progress }
      // All inputs of one call have the same wall-clock offset. More may not be available yet.
      guard inputs.isEmpty || !held.isEmpty && progress.wallClockOffset == shown.wallClockOffset
      else { break }
      let start = given ?? progress.began ?? reached
      // After a rest, time continues from where it stopped.
      let pacer = self.pacer ?? Pacer(start: start, factor: factor)
      self.pacer = pacer
      if inputs.isEmpty {
        let due = next < held.count ? min(Reel.time(of: held[next]), reached) : reached
        pacer.sleep(
          until: min(due, deadline ?? due), atMost: MonotonicTime.nanosecondsPerSecond / 10)
      }
      let now = max(start, min(pacer.now, reached))
      while next < held.count, Reel.time(of: held[next]) <= now {
        inputs.append(held[next])
        next += 1
      }
      given = now
      shown = progress
      shown.reached = now
      shown.isOver = progress.isOver && next == held.count && now == reached
    } while !inputs.isEmpty && inputs.count < CaptureReader.batch && next == held.count
      && given == progress.reached && !progress.isOver
    return shown
  }

  private mutating func readAhead() throws {
    for recording in recordings { recording.willReadAhead() }
    next = 0
    var read: [Reel.Input] = []
    swap(&read, &held)
    defer { swap(&read, &held) }
    try self.read(into: &read)
  }
}

extension Recording {
  fileprivate var nextTime: MonotonicTime? { isEmpty ? nil : Self.time(of: inputs[next]) }
}

/// A clock that maps the monotonic clock to a recording's time.
package struct Pacer {
  private let start: MonotonicTime
  private let factor: Double
  private let began = DispatchTime.now()

  package init(start: MonotonicTime, factor: Double) {
    self.start = start
    self.factor = factor
  }

  package var now: MonotonicTime {
    let elapsed = DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds
    return start.advanced(by: Int64(min(Double(elapsed) * factor, 9e18)))
  }

  /// Waits until a time of the recording, for at most `longest` nanoseconds of real time.
  package func sleep(until moment: MonotonicTime, atMost longest: Int64) {
    let wait = min(Double(moment.nanoseconds(since: now)) / factor, Double(longest))
    guard wait > 0 else { return }
    usleep(UInt32(clamping: Int(wait) / 1000))
  }
}
