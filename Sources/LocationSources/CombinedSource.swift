import Dispatch
package import Positioning
package import Scanning
import Synchronization

/// A live source of fixes, combined with a compass.
///
/// Each works only while the demand needs it. A thread receives from the compass, and wakes the fix
/// source. If there is no compass, the fix source receives the demand for headings.
package final class CombinedSource: LocationSource {
  private let parts: Parts
  private let isUsingFixes = Atomic(false)
  private let other = Mutex(OtherCompass())

  /// The compass of the fix source, which is used if there is no other.
  private struct OtherCompass {
    static let patience = 10 * MonotonicTime.nanosecondsPerSecond

    var hasReading = false
    var since: MonotonicTime?
    var isMissing = false

    mutating func receive(_ isReading: Bool, at now: MonotonicTime, from name: String)
      -> [LocationHealth]
    {
      let start = since ?? now
      since = isReading ? nil : start
      hasReading = hasReading || isReading
      let isMissing =
        !hasReading && (isMissing || now.nanoseconds(since: start) >= Self.patience)
      guard isMissing != self.isMissing else { return [] }
      self.isMissing = isMissing
      let sentence =
        isMissing
        ? "\(name) has sent no heading for 10 s, and there is no other compass; connect one and "
          + "start iio-sensor-proxy" : "\(name) has headings"
      return [
        LocationHealth(
          isMissing ? .noReceiver : .receiving, of: .headings, at: now, sentence: sentence)
      ]
    }

    mutating func rest() {
      since = nil
      isMissing = false
    }
  }

  package init(fixes: any LocationSource, compass: CompassSource) {
    parts = Parts(fixes: fixes, compass: compass)
  }

  deinit { parts.stopCompass() }

  package var name: String { parts.fixes.name }
  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool { parts.fixes.reportsOnlyChanges }

  package var availability: ScannerAvailability { parts.fixes.availability }

  /// Whether there is a compass that this process may use, as far as is known. Safe on an app's
  /// main thread: only the first answer is waited for, once and for at most ``Parts/answerLimit``.
  package var hasCompass: Bool {
    parts.hasCompass || parts.fixes.hasCompass || other.withLock { $0.hasReading }
  }

  package var mayHaveCompass: Bool { hasCompass || parts.fixes.mayHaveCompass }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    demand.needsHeading ? parts.startCompass() : parts.stopCompass()
    let needsHeading =
      demand.needsHeading && parts.compass.availability != .available && parts.fixes.mayHaveCompass
    let usesFixes = demand.fixes != nil || needsHeading
    useFixes(usesFixes)
    var progress = LocationProgress()
    if usesFixes {
      progress = try parts.fixes.receive(
        for: LocationDemand(fixes: demand.fixes, needsHeading: needsHeading), until: deadline,
        into: &inputs)
      if needsHeading {
        let isReading = inputs.contains(where: \.isReading)
        progress.health += other.withLock {
          $0.receive(isReading, at: .now, from: parts.fixes.name)
        }
      }
    } else {
      let now = MonotonicTime.now
      let end = now.advanced(by: 2 * MonotonicTime.nanosecondsPerSecond)
      parts.wakeSignal.wait(nanoseconds: min(deadline ?? end, end).nanoseconds(since: now))
    }
    // The other compass may work, so the absence of this one is not reported.
    if needsHeading { parts.dropFaults() }
    return parts.takeReadings(into: &inputs, progress)
  }

  private func useFixes(_ isUsed: Bool) {
    let wasUsed = isUsingFixes.exchange(isUsed, ordering: .acquiringAndReleasing)
    if wasUsed, !isUsed {
      parts.fixes.rest()
      other.withLock { $0.rest() }
    }
  }

  package func wake() { parts.wake() }

  package func rest() {
    parts.stopCompass()
    useFixes(false)
  }

  private final class Parts: Sendable {
    let fixes: any LocationSource
    let compass: CompassSource
    let wakeSignal = WakeSignal()
    private let state = Mutex(State())
    private let receiver = DispatchQueue(label: "LocationSources.compass")

    /// The queue for requests whether there is a compass, and the group for their answers.
    private let presence = DispatchQueue(label: "LocationSources.compass.presence")
    private let answer = DispatchGroup()
    /// Whether a request is pending, and the end of the wait for the first answer.
    private let question = Mutex((isOpen: false, firstEnd: DispatchTime?.none))

    private static let answerLimit = DispatchTimeInterval.seconds(1)

    var hasCompass: Bool {
      if let current = compass.current { return current == .available }
      let end = question.withLock { question in
        if !question.isOpen {
          question.isOpen = true
          presence.async(group: answer) { [self] in
            _ = compass.availability
            self.question.withLock { $0.isOpen = false }
          }
        }
        let end = question.firstEnd ?? .now() + Self.answerLimit
        question.firstEnd = end
        return end
      }
      if compass.knownAvailability == nil { _ = answer.wait(timeout: end) }
      return compass.knownAvailability == .available
    }

    /// The maximum number of kept readings and changes of the compass; the oldest are dropped.
    private static let limit = 64

    private struct State {
      var isNeeded = false
      var isRunning = false
      var readings: [PositionInput] = []
      var health: [LocationHealth] = []

      mutating func add(_ inputs: [PositionInput], _ changes: [LocationHealth]) {
        guard isNeeded else { return }
        // They get the current time, so that none is earlier than progress that was reported.
        let now = MonotonicTime.now
        for case .compass(var reading) in inputs {
          reading.time = now
          readings.append(.compass(reading))
        }
        for var change in changes {
          change.time = now
          health.append(change)
        }
        readings.removeFirst(max(0, readings.count - limit))
        health.removeFirst(max(0, health.count - limit))
      }
    }

    init(fixes: any LocationSource, compass: CompassSource) {
      self.fixes = fixes
      self.compass = compass
    }

    func wake() {
      wakeSignal.send()
      fixes.wake()
    }

    func startCompass() {
      let isNew = state.withLock { state in
        state.isNeeded = true
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isNew { receiver.async { [self] in run() } }
    }

    func stopCompass() {
      let wasNeeded = state.withLock { state in
        state.readings = []
        defer { state.isNeeded = false }
        return state.isNeeded
      }
      if wasNeeded { compass.wake() }
    }

    private func run() {
      var inputs: [PositionInput] = []
      while true {
        if state.withLock({ $0.isNeeded }) {
          let progress = compass.receive(
            for: LocationDemand(needsHeading: true), until: nil, into: &inputs)
          guard !inputs.isEmpty || !progress.health.isEmpty else { continue }
          state.withLock { $0.add(inputs, progress.health) }
          wake()
        } else {
          compass.rest()
          let isOver = state.withLock { state in
            if !state.isNeeded { state.isRunning = false }
            return !state.isRunning
          }
          if isOver { return }
        }
      }
    }

    func dropFaults() { state.withLock { $0.health.removeAll(where: \.isFault) } }

    /// Adds the kept readings to `inputs`, sorted by time, and returns the progress of both.
    func takeReadings(
      into inputs: inout [PositionInput], _ progress: LocationProgress
    ) -> LocationProgress {
      state.withLock { state in
        var all = LocationProgress.live(progress.health + state.health)
        all.isOver = progress.isOver
        inputs += state.readings
        if !state.readings.isEmpty { inputs.sort { $0.time < $1.time } }
        if !state.health.isEmpty { all.health.sort { $0.time < $1.time } }
        state.readings = []
        state.health = []
        return all
      }
    }
  }
}
