public import Scanning

/// Replays one capture or several: their sightings, merged by time.
public final class CaptureReplay {
  /// The sightings of the latest batch, in the order of time.
  public private(set) var sightings: [Sighting] = []
  /// The moment up to which everything has been given.
  public private(set) var time = MonotonicTime(nanoseconds: .min)

  private var sources: [Source] = []
  private var failure: CaptureError?

  /// A capture, and the batch of it that is being given.
  private final class Source {
    let reading: ReadAhead
    var status: CaptureStatus
    var sightings: [Sighting] = []
    var next = 0
    var isAtEnd = false

    init(_ reader: CaptureReader) {
      status = reader.status(ScanCounts())
      reading = ReadAhead(reader)
    }
  }

  /// Opens captures.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - follows: Whether they are still being written.
  ///   - duration: How many nanoseconds of each recording are read; `nil` for all.
  ///   - packetTap: Is handed every HCI packet as it is read, which is before it is given; of several
  ///     recordings in no order, and by several threads.
  /// - Throws: ``CaptureError`` for the first that cannot be opened.
  public init(
    paths: [String], follows: Bool = false, duration: Int64? = nil, packetTap: PacketTap? = nil
  ) throws(CaptureError) {
    for path in paths {
      sources.append(
        Source(
          try CaptureReader(
            path: path, follows: follows, duration: duration, packetTap: packetTap)))
    }
  }

  /// How far each capture has been given, in the order of the paths.
  public var statuses: [CaptureStatus] { sources.map(\.status) }

  /// What was counted so far, in all captures.
  public var counts: ScanCounts { sources.reduce(into: ScanCounts()) { $0 += $1.status.counts } }

  /// The moment of the first packet of all captures.
  public var firstTime: MonotonicTime? { sources.compactMap(\.status.firstTime).min() }

  /// The distance from the replay's time to the first recording's wall-clock time.
  public var wallClockOffset: WallClockOffset { sources.first?.status.wallClockOffset ?? .zero }

  /// Reads on.
  ///
  /// It waits for a tenth of a second at most, and then says that it is caught up.
  ///
  /// - Returns: ``CaptureReader/Progress/end`` when every capture is at its end; the last sightings
  ///   may come with it.
  /// - Throws: ``CaptureError`` where a capture is damaged, after everything that stood whole before
  ///   the damage, in every capture, has been given.
  public func nextBatch() throws(CaptureError) -> CaptureReader.Progress {
    let progress = sources.count == 1 ? nextOfOne(sources[0]) : nextMerged()
    if progress == .end, sightings.isEmpty, let failure { throw failure }
    // A failure is told behind the last sightings.
    return progress == .end && failure != nil ? .more : progress
  }

  /// Takes the sightings of the latest batch, and gives an array whose memory is used for the next.
  func take(_ sightings: inout [Sighting]) {
    sightings.removeAll(keepingCapacity: true)
    swap(&self.sightings, &sightings)
  }

  /// The usual case: the source's batch is the batch.
  private func nextOfOne(_ source: Source) -> CaptureReader.Progress {
    guard !source.isAtEnd else {
      sightings.removeAll()
      return .end
    }
    swap(&sightings, &source.sightings)
    let progress = advance(source)
    swap(&sightings, &source.sightings)
    time = source.status.time
    return progress
  }

  private func nextMerged() -> CaptureReader.Progress {
    sightings.removeAll(keepingCapacity: true)
    while sightings.count < 1024 {
      // Before one source may give a sighting, every other must have shown its next.
      for source in sources where source.next == source.sightings.count && !source.isAtEnd {
        if advance(source) == .caughtUp { return sightings.isEmpty ? .caughtUp : .more }
      }
      guard sources.allSatisfy({ $0.isAtEnd || $0.next < $0.sightings.count }) else { continue }
      let waiting = sources.filter { $0.next < $0.sightings.count }
      guard
        let source = waiting.min(by: { $0.sightings[$0.next].time < $1.sightings[$1.next].time })
      else {
        time = max(time, sources.map(\.status.time).max() ?? time)
        return .end
      }
      sightings.append(source.sightings[source.next])
      source.next += 1
      time = max(time, sightings[sightings.count - 1].time)
    }
    return .more
  }

  /// Takes a source's next batch.
  private func advance(_ source: Source) -> CaptureReader.Progress {
    // Handed over, not shared: the array's memory can be used again only by its one holder.
    var used: [Sighting] = []
    swap(&used, &source.sightings)
    source.next = 0
    guard let batch = source.reading.next(reusing: used) else { return .caughtUp }
    source.sightings = batch.sightings
    source.status = batch.status
    source.isAtEnd = batch.progress == .end
    failure = failure ?? batch.failure
    return batch.progress
  }
}
