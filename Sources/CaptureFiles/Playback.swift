package import Clocks
package import Sources

/// A recording as a ``Playback`` reads it: a capture or a track.
package protocol Recording: AnyObject {
  /// What it holds.
  associatedtype Input: Sendable
  /// The state that its source reports.
  associatedtype Health: SourceHealth

  /// What was read last, in the order of time.
  var inputs: [Input] { get set }
  /// The place of the first input that was not given yet.
  var next: Int { get set }

  /// Reads on, and appends to ``inputs``. It does not wait for a pipe. It throws at the first byte that cannot be read, with all
  /// that stood before it appended.
  func read() throws -> ReadingProgress
  /// Waits until more may be there, for a tenth of a second at most.
  func wait()
  /// Is called where what was read so far was given, and what is read next may not be for a while.
  func willReadAhead()

  /// The moment of the first input, or of what came before it; `nil` before it is known.
  var firstTime: MonotonicTime? { get }
  /// The moment up to which it was read.
  var time: MonotonicTime { get }
  /// The distance from the playback's time to the recording's wall-clock time, for what was read last.
  var wallClockOffset: WallClockOffset { get }

  static func time(of input: Input) -> MonotonicTime
}

extension Recording {
  package func willReadAhead() {}

  /// Whether all that was read has been given.
  package var isEmpty: Bool { next == inputs.count }
}

/// What reading a recording came to.
package enum ReadingProgress: Sendable {
  /// There is more to read.
  case more
  /// Everything has been read that is there so far; more may come.
  case caughtUp
  /// The recording is read to its end.
  case end
}

/// Plays recordings of one kind back: what they hold, merged by time, on their own time.
package struct Playback<Reel: Recording> {
  package typealias Progress = SourceProgress<Reel.Health>

  package let recordings: [Reel]
  /// How many times as fast as it did time passes; `nil` for as fast as the recordings can be read.
  package var factor: Double?

  private let duration: Int64?
  /// Which recordings are at their end, and what is wrong with them behind their last inputs.
  private var isAtEnd: [Bool]
  private var failures: [(any Error)?]
  private var pacer: Pacer?
  /// What has been read and is not yet due.
  private var held: [Reel.Input] = []
  private var next = 0
  /// Whether reading waits for a pipe; not while something that is due would wait with it.
  private var mayWait = true
  /// How far the recordings have been read, and how far they have been given.
  private var progress = Progress()
  private var given: MonotonicTime?

  /// Begins recordings.
  ///
  /// - Parameters:
  ///   - recordings: The recordings, in the order in which what has one moment is given.
  ///   - factor: How many times as fast as it did time passes; `nil` for as fast as the recordings can be read.
  ///   - duration: The number of nanoseconds that are played; `nil` for all.
  package init(_ recordings: [Reel], factor: Double?, duration: Int64?) {
    (self.recordings, self.factor, self.duration) = (recordings, factor, duration)
    isAtEnd = recordings.map { _ in false }
    failures = recordings.map { _ in nil }
  }

  /// Whether something was read that is not due yet.
  package var isHolding: Bool { factor != nil && given != progress.reached }

  /// Stops the time of what is paced until the next call of ``receive(until:into:)``.
  package mutating func rest() { pacer = nil }

  /// Reads the first inputs of each recording, as far as they are there.
  package mutating func readFirst() {
    for index in recordings.indices {
      while recordings[index].isEmpty, !isAtEnd[index], advance(index) {}
    }
  }

  /// Reads on. What one call gives has one distance to wall-clock time, which the progress names: that of the recording that it
  /// comes from.
  ///
  /// - Throws: What is wrong with a recording, after all that stood whole before it in every recording.
  package mutating func receive(
    until deadline: MonotonicTime?, into inputs: inout [Reel.Input]
  ) throws -> Progress {
    if let factor { return try pace(factor, until: deadline, into: &inputs) }
    try read(into: &inputs)
    return progress
  }

  /// Reads on, and cuts what lies behind the limit.
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
    // A failure is reported after the last inputs.
    progress.isOver = isAtEnd && failure == nil
    // The first moment is known when every recording has shown its own.
    guard
      recordings.indices.allSatisfy({ recordings[$0].firstTime != nil || self.isAtEnd[$0] }),
      let first = recordings.compactMap(\.firstTime).min()
    else { return }
    progress.began = first
    let last = inputs.last.map(Reel.time) ?? first
    var reached = max(progress.reached ?? first, last)
    // What follows the last input of a single recording, and of all at their end, is known.
    if recordings.count == 1 || isAtEnd {
      reached = max(reached, recordings.lazy.map(\.time).max() ?? reached)
    }
    if let limit = duration.map({ first.advanced(by: $0) }) {
      while let last = inputs.last, Reel.time(of: last) >= limit { inputs.removeLast() }
      // The end is there even if the last input before it is not.
      reached = progress.isOver ? limit : min(reached, limit)
    }
    progress.reached = reached
  }

  /// Reads the next inputs of a recording, and returns whether it is known what comes next; otherwise more may be there later.
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

  /// Reads the usual single recording: its batch is the batch.
  private mutating func readOne(_ recording: Reel, into inputs: inout [Reel.Input]) {
    if recording.isEmpty {
      // Its batch is read into the memory of the one before.
      swap(&recording.inputs, &inputs)
      if !advance(0), mayWait { recording.wait() }
    }
    progress.wallClockOffset = recording.wallClockOffset
    swap(&recording.inputs, &inputs)
  }

  /// Moves inputs of all recordings in the order of time, as long as these have one distance to wall-clock time.
  private mutating func merge(into inputs: inout [Reel.Input]) {
    // When each recording's next input comes; `nil` where it has none.
    var heads = recordings.map(\.nextTime)
    // What is paced is not read ahead, so that what was counted was given.
    while inputs.count < (factor == nil ? CaptureReader.batch : 1) {
      var earliest: (index: Int, time: MonotonicTime)?
      // Before one recording may give an input, every other must have shown its next.
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

  /// Gives what is due, and lets a little time pass where nothing is.
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
          // It is reported when these have been given.
          return shown
        }
      }
      guard let reached = progress.reached else { return progress }
      // What one call gives has one distance to wall-clock time. Nothing more may be there yet.
      guard inputs.isEmpty || !held.isEmpty && progress.wallClockOffset == shown.wallClockOffset
      else { break }
      let start = given ?? progress.began ?? reached
      // After a rest, time goes on from where it was.
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
