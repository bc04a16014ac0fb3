public import Scanning

/// Replays one capture or several: their sightings, merged by time.
public final class CaptureReplay {
  /// What a call to ``nextBatch()`` came to.
  public enum Progress: Sendable {
    /// There are sightings, or time went on.
    case more
    /// All that is there so far was given; a file may grow.
    case caughtUp
    /// Every capture is at its end.
    case end
  }

  private final class Source {
    let reader: CaptureReader
    var collector = SightingCollector()
    var next = 0
    var isAtEnd = false

    init(_ reader: CaptureReader) {
      self.reader = reader
    }
  }

  /// The sightings of the latest batch, in the order of time.
  public private(set) var sightings: [Sighting] = []
  /// The moment up to which everything has been given.
  public private(set) var time = Timestamp(nanoseconds: .min)

  private var sources: [Source]
  private var failure: CaptureError?

  /// Opens captures.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - follows: Whether they are still being written.
  public init(paths: [String], follows: Bool = false) throws(CaptureError) {
    sources = []
    for path in paths {
      sources.append(Source(try CaptureReader(path: path, follows: follows)))
    }
  }

  /// The readers, in the order of the paths.
  public var readers: [CaptureReader] { sources.map(\.reader) }

  /// What was counted so far, in all captures.
  public var counts: ScanCounts {
    sources.reduce(into: ScanCounts()) { $0 += $1.collector.counts }
  }

  /// The moment of the first packet of all captures.
  public var firstTime: Timestamp? { sources.compactMap(\.reader.firstTime).min() }

  /// What to add to a moment of the replay, in nanoseconds, to get the one that the recording shows.
  public var wallClockShift: Int64 { sources.first?.reader.wallClockShift ?? 0 }

  /// Reads on.
  ///
  /// - Throws: ``CaptureError`` where a capture is damaged, after everything that stood whole before
  ///   the damage, in every capture, has been given.
  public func nextBatch() throws(CaptureError) -> Progress {
    sightings.removeAll(keepingCapacity: true)
    return sources.count == 1 ? try nextOfOne() : try nextMerged()
  }

  /// The usual case: the collector's array is the batch.
  private func nextOfOne() throws(CaptureError) -> Progress {
    if let failure { throw failure }
    swap(&sightings, &sources[0].collector.sightings)
    sources[0].collector.removeSightings()
    let progress = read(sources[0])
    swap(&sightings, &sources[0].collector.sightings)
    time = sources[0].reader.time
    switch progress {
    case .more: return .more
    case .caughtUp: return .caughtUp
    case .end:
      guard let failure else { return .end }
      if sightings.isEmpty { throw failure }
      return .more
    }
  }

  private func nextMerged() throws(CaptureError) -> Progress {
    while sightings.count < 1024 {
      // Before one source may give a sighting, every other must have shown its next.
      for source in sources where source.next == source.collector.sightings.count {
        source.next = 0
        source.collector.removeSightings()
        while source.collector.sightings.isEmpty, !source.isAtEnd {
          switch read(source) {
          case .more: continue
          case .caughtUp: return sightings.isEmpty ? .caughtUp : .more
          case .end: source.isAtEnd = true
          }
        }
      }
      var earliest: (source: Source, sighting: Sighting)?
      for source in sources where source.next < source.collector.sightings.count {
        let sighting = source.collector.sightings[source.next]
        if let known = earliest, known.sighting.time <= sighting.time { continue }
        earliest = (source, sighting)
      }
      guard let (source, sighting) = earliest else { break }
      source.next += 1
      sightings.append(sighting)
      time = max(time, sighting.time)
    }
    guard sightings.isEmpty else { return .more }
    time = max(time, sources.map(\.reader.time).max() ?? time)
    if let failure { throw failure }
    return .end
  }

  private func read(_ source: Source) -> CaptureReader.Progress {
    do throws(CaptureError) {
      return try source.reader.read(into: &source.collector)
    } catch {
      failure = failure ?? error
      return .end
    }
  }
}
