import Scanning

/// One event as it is delivered.
struct WebhookMessage: Sendable, Equatable {
  /// The identifier of its entry in the journal.
  var number: Int64
  /// The identifier as text: the same for each attempt and each webhook, so that a receiver can discard doubles.
  var id: String
  var body: [UInt8]
}

/// Where a webhook is in its events, and when the next attempt is made: arithmetic that is given the time.
///
/// One event is sent at a time, so that events come in their order. One that failed is tried again.
struct DeliverySchedule {
  /// How an attempt ended.
  enum Outcome: Equatable {
    case delivered
    /// The webhook does not want this event.
    case refused
    /// The event is tried again, not before so many seconds that the answer asks for.
    case failed(retryAfter: Double)
  }

  private let configuration: WebhookConfiguration
  /// The number of the latest event that needs no attempt any more.
  private(set) var position: Int64
  private var sent: WebhookMessage?
  /// When the next event may be tried, after a failure.
  private var pauseEnd: MonotonicTime?
  private var delay: Double
  private(set) var deliveries = 0
  private(set) var failures = 0
  private(set) var refused = 0
  /// How often events were gone before they could be tried.
  private(set) var gaps = 0

  init(_ configuration: WebhookConfiguration, position: Int64) {
    self.configuration = configuration
    self.position = position
    delay = configuration.retryDelay.lowerBound
  }

  /// The time from which on an event may be sent; `nil` where one is being sent.
  func due(at now: MonotonicTime) -> MonotonicTime? {
    sent == nil ? max(now, pauseEnd ?? now) : nil
  }

  /// Takes the event to send now, with the position before it.
  mutating func begin(_ message: WebhookMessage, after before: Int64, hasGap: Bool) {
    sent = message
    position = before
    if hasGap { gaps += 1 }
  }

  /// Moves to a position up to which there is no event for the webhook.
  mutating func skip(to position: Int64) { self.position = max(self.position, position) }

  /// Records how the attempt ended, and returns the new position where it has moved.
  ///
  /// A factor multiplies the delay, so that receivers that lost the same server do not come back at the same moment.
  mutating func end(_ outcome: Outcome, at now: MonotonicTime, factor: Double) -> Int64? {
    guard let message = sent else { return nil }
    sent = nil
    switch outcome {
    case .delivered, .refused:
      if outcome == .delivered { deliveries += 1 } else { refused += 1 }
      pauseEnd = nil
      delay = configuration.retryDelay.lowerBound
      position = message.number
      return position
    case .failed(let retryAfter):
      failures += 1
      let limits = configuration.retryDelay
      let pause = min(max(delay * factor, limits.lowerBound), limits.upperBound)
      let asked = min(retryAfter, configuration.maximumRetryAfter)
      pauseEnd = now.advanced(bySeconds: max(pause, asked))
      delay = min(delay * 2, limits.upperBound)
      return nil
    }
  }
}
