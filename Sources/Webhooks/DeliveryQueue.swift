import DequeModule
import Scanning

/// One event as it is delivered.
struct WebhookMessage: Sendable, Equatable {
  /// A number that rises from event to event.
  var number: Int64
  /// The same for each attempt and each webhook, so that a receiver can discard doubles.
  var id: String
  var body: [UInt8]
}

/// What waits for one webhook, and when it is tried: arithmetic that is given the time.
///
/// One event is sent at a time, so that events come in their order. One that failed is first again.
struct DeliveryQueue {
  /// How an attempt ended.
  enum Outcome: Equatable {
    case delivered
    /// The webhook does not want this event.
    case refused
    /// The event is tried again, not before so many seconds that the answer asks for.
    case failed(retryAfter: Double)
  }

  private let configuration: WebhookConfiguration
  private var waiting: Deque<WebhookMessage> = []
  private var sent: WebhookMessage?
  /// When the first event may be tried, after a failure.
  private var pauseEnd: MonotonicTime?
  private var delay: Double
  private(set) var deliveries = 0
  private(set) var failures = 0
  private(set) var refused = 0
  private(set) var dropped = 0
  /// The number of the latest event that was added; `nil` before the first one.
  private var latest: Int64?

  init(_ configuration: WebhookConfiguration) {
    self.configuration = configuration
    delay = configuration.retryDelay.lowerBound
  }

  /// The number of events that are not delivered, the one that is being sent among them.
  var count: Int { waiting.count + (sent == nil ? 0 : 1) }

  /// The number up to which no event waits: each was delivered, refused or dropped. `nil` before the first event.
  var mark: Int64? { (sent ?? waiting.first).map { $0.number - 1 } ?? latest }

  /// Begins behind an event, of which and of those before it none waits.
  mutating func begin(after number: Int64) { latest = number }

  /// Adds an event. Returns whether another one made room for it.
  mutating func append(_ message: WebhookMessage) -> Bool {
    waiting.append(message)
    latest = message.number
    return dropOldest()
  }

  private mutating func dropOldest() -> Bool {
    guard waiting.count > configuration.maximumEvents else { return false }
    waiting.removeFirst()
    dropped += 1
    return true
  }

  /// The time from which on an event can be sent; `nil` where there is none, or one is being sent.
  func due(at now: MonotonicTime) -> MonotonicTime? {
    sent == nil && !waiting.isEmpty ? max(now, pauseEnd ?? now) : nil
  }

  /// Returns the event to send now.
  mutating func next(at now: MonotonicTime) -> WebhookMessage? {
    guard due(at: now) == now else { return nil }
    sent = waiting.popFirst()
    return sent
  }

  /// Records how the attempt ended.
  ///
  /// A factor multiplies the delay, so that receivers that lost the same server do not come back at the same moment.
  mutating func end(_ outcome: Outcome, at now: MonotonicTime, factor: Double) {
    guard let message = sent else { return }
    sent = nil
    switch outcome {
    case .delivered, .refused:
      if outcome == .delivered { deliveries += 1 } else { refused += 1 }
      (pauseEnd, delay) = (nil, configuration.retryDelay.lowerBound)
    case .failed(let retryAfter):
      failures += 1
      waiting.prepend(message)
      _ = dropOldest()
      let limits = configuration.retryDelay
      let pause = min(max(delay * factor, limits.lowerBound), limits.upperBound)
      let asked = min(retryAfter, configuration.maximumRetryAfter)
      pauseEnd = now.advanced(bySeconds: max(pause, asked))
      delay = min(delay * 2, limits.upperBound)
    }
  }
}
