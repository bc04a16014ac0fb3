import Scanning

/// A webhook's position in its events, and the time of its next attempt. It does not read a clock.
///
/// It sends one event at a time, in order, and repeats one that failed.
struct DeliverySchedule {
  enum Outcome: Equatable {
    case delivered
    /// The webhook rejected this event, which is not sent again.
    case refused
    /// The event is sent again, no sooner than the seconds that the answer asked for.
    case failed(retryAfter: Double)
  }

  private let configuration: WebhookConfiguration
  /// The number of the last event that is settled.
  private(set) var position: Int64
  /// The state and the counters, except for the number of waiting events.
  var status: WebhookStatus
  private var sent: Int64?
  private var pauseEnd: MonotonicTime?
  private var delay: Double

  init(_ configuration: WebhookConfiguration, place: String, position: Int64) {
    self.configuration = configuration
    status = WebhookStatus(place: place)
    self.position = position
    delay = configuration.retryDelay.lowerBound
  }

  func due(at now: MonotonicTime) -> MonotonicTime? {
    sent == nil ? max(now, pauseEnd ?? now) : nil
  }

  /// Records that an event is being sent, and that all events up to `before` are settled.
  mutating func begin(_ number: Int64, after before: Int64, hasGap: Bool) {
    sent = number
    position = before
    if hasGap { status.gaps += 1 }
  }

  mutating func skip(to position: Int64) { self.position = max(self.position, position) }

  /// Records the result, and returns the new position if it has moved. The factor varies the delay,
  /// so that clients of one failed server do not all return at the same time.
  mutating func end(_ outcome: Outcome, at now: MonotonicTime, factor: Double) -> Int64? {
    guard let number = sent else { return nil }
    sent = nil
    switch outcome {
    case .delivered, .refused:
      if outcome == .delivered { status.deliveries += 1 } else { status.refused += 1 }
      pauseEnd = nil
      delay = configuration.retryDelay.lowerBound
      position = number
      return number
    case .failed(let retryAfter):
      status.failures += 1
      let limits = configuration.retryDelay
      let pause = min(max(delay * factor, limits.lowerBound), limits.upperBound)
      let asked = min(retryAfter, configuration.maximumRetryAfter)
      pauseEnd = now.advanced(bySeconds: max(pause, asked))
      delay = min(delay * 2, limits.upperBound)
      return nil
    }
  }
}
