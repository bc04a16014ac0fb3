import Adapters
import CCurl
import Scanning
import Synchronization

/// Delivers events to the URLs of a configuration, each as the body of a request of HTTP.
///
/// ```swift
/// let sender = try WebhookSender(configuration) { report in … }
/// sender.start()
/// sender.send(event.json, id: "e0bcc55d-17", number: 17)
/// sender.stop()
/// ```
///
/// No call waits for a server. One thread serves all webhooks: each gets one event at a time, in their order. It sleeps
/// while nothing waits.
package final class WebhookSender: Sendable {
  private let work: SenderWork

  /// Creates a sender that is not started. What it reports, it reports from its own thread, or from that which sends.
  ///
  /// - Throws: Why no webhook can be used.
  package init(
    _ configuration: WebhookConfiguration,
    report: @escaping @Sendable (WebhookReport) -> Void = { _ in }
  ) throws(WebhookError) {
    work = SenderWork(configuration, try CurlLibrary.shared.get(), report)
  }

  deinit { work.thread.requestStop() }

  /// Begins to deliver, once.
  package func start() { work.start() }

  /// Ends all requests. What waits is not delivered, which is reported.
  package func stop() { work.stop() }

  /// Delivers an event, a JSON object, to every webhook, or to one of them. Numbers rise from event to event.
  package func send(_ json: [UInt8], id: String, number: Int64, to index: Int? = nil) {
    work.send(WebhookMessage(number: number, id: id, body: json), to: index)
  }

  /// Begins behind the event with a number: the webhook needs none up to it.
  package func begin(_ index: Int, after number: Int64) { work.begin(index, after: number) }

  /// For each webhook, the number up to which it needs no event any more: each was delivered, refused or dropped.
  package var marks: [Int64?] { work.marks }

  /// The states of the webhooks, as the configuration has them.
  package var statuses: [WebhookStatus] { work.statuses }
}

/// What the callers and the sender's thread share, and the thread's work.
private final class SenderWork: Sendable {
  private struct Webhook {
    var queue: DeliveryQueue
    /// The failure that was reported last, since the last delivery.
    var reported: String?
    /// Whether it was reported that events are dropped, since none waited.
    var hasOverflowed = false
  }

  private struct State {
    var webhooks: [Webhook]
  }

  private let configuration: WebhookConfiguration
  private let curl: CurlLibrary
  private let report: @Sendable (WebhookReport) -> Void
  private let state: Mutex<State>
  let thread = WorkerThread()

  /// How long the thread's end is waited for, in seconds: libcurl may wait for the resolver of host names.
  private static let stopTime = 0.5

  init(
    _ configuration: WebhookConfiguration, _ curl: CurlLibrary,
    _ report: @escaping @Sendable (WebhookReport) -> Void
  ) {
    (self.configuration, self.curl, self.report) = (configuration, curl, report)
    let webhooks = configuration.urls.map { _ in Webhook(queue: DeliveryQueue(configuration)) }
    state = Mutex(State(webhooks: webhooks))
  }

  var statuses: [WebhookStatus] {
    state.withLock { state in
      zip(configuration.urls, state.webhooks).map { url, webhook in
        WebhookStatus(
          place: url.place, deliveries: webhook.queue.deliveries, failures: webhook.queue.failures,
          refused: webhook.queue.refused, dropped: webhook.queue.dropped,
          waiting: webhook.queue.count, lastError: webhook.reported)
      }
    }
  }

  var marks: [Int64?] { state.withLock { $0.webhooks.map(\.queue.mark) } }

  func begin(_ index: Int, after number: Int64) {
    state.withLock { $0.webhooks[index].queue.begin(after: number) }
  }

  func send(_ message: WebhookMessage, to index: Int?) {
    let full = state.withLock { state in
      (index.map { $0..<$0 + 1 } ?? state.webhooks.indices).filter { index in
        let drops = state.webhooks[index].queue.append(message)
        defer { state.webhooks[index].hasOverflowed = state.webhooks[index].hasOverflowed || drops }
        return drops && !state.webhooks[index].hasOverflowed
      }
    }
    thread.wake.send()
    for index in full {
      report(
        .overflowed(
          index,
          "\(configuration.maximumEvents) events wait for the webhook at \(place(index)); the "
            + "oldest are dropped from here on"))
    }
  }

  private func place(_ index: Int) -> String { configuration.urls[index].place }

  func start() {
    guard !thread.start({ [self] in run() }) else { return }
    fail("no thread can be started for webhooks; end other programs, or raise their limit")
  }

  func stop() {
    thread.requestStop()
    thread.waitForEnd(seconds: Self.stopTime)
    for (index, status) in statuses.enumerated() where status.waiting > 0 {
      let events = status.waiting == 1 ? "1 event was" : "\(status.waiting) events were"
      report(.ended(index, "\(events) not delivered to the webhook at \(status.place)"))
    }
  }

  private static let noMemory = "there is no memory for webhooks; end other programs"

  // The thread.

  private func run() {
    do throws(CurlRequests.NoMemory) {
      let requests = try CurlRequests(configuration, curl)
      while let pause = startRequests(requests) {
        if requests.isRunning {
          let ended = requests.perform()
          for (index, answer) in ended { end(index, answer) }
          if ended.isEmpty { requests.wait(seconds: pause, orUntil: thread.wake) }
        } else {
          thread.wake.wait(nanoseconds: Int64(min(pause, 86400) * 1e9))
        }
      }
    } catch {
      fail(Self.noMemory)
    }
  }

  /// Begins what is due. Returns the seconds until more is; `nil` where a stop is requested.
  private func startRequests(_ requests: CurlRequests) -> Double? {
    guard !thread.isStopping else { return nil }
    let now = MonotonicTime.now
    var (messages, pause) = state.withLock { state in
      var pause = Double.infinity
      var messages: [(Int, WebhookMessage)] = []
      for index in state.webhooks.indices {
        if let message = state.webhooks[index].queue.next(at: now) {
          messages.append((index, message))
        } else if let due = state.webhooks[index].queue.due(at: now) {
          pause = min(pause, due.seconds(since: now))
        }
      }
      return (messages, pause)
    }
    for (index, message) in messages {
      do throws(CurlRequests.NoMemory) {
        try requests.start(index, message.body, headers: headers(of: message))
      } catch {
        state.withLock { state in
          state.webhooks[index].queue.end(.failed(retryAfter: 0), at: .now, factor: 1)
        }
        fail(Self.noMemory, of: index)
        pause = 0
      }
    }
    return pause
  }

  private func headers(of message: WebhookMessage) -> [String] {
    let timestamp = WallClockTime.now.nanoseconds / 1_000_000_000
    var headers = [
      "Content-Type: application/json", "webhook-id: \(message.id)",
      "webhook-timestamp: \(timestamp)",
      // libcurl would wait for a permission to send a large body.
      "Expect:",
    ]
    if let secret = configuration.secret {
      let signature = secret.signature(id: message.id, timestamp: timestamp, body: message.body)
      headers.append("webhook-signature: \(signature)")
    }
    return headers
  }

  /// Records how a request ended.
  private func end(_ index: Int, _ answer: WebhookAnswer) {
    let outcome = answer.outcome
    let isRecovery = state.withLock { state in
      state.webhooks[index].queue.end(outcome, at: .now, factor: .random(in: 0.75...1.25))
      if state.webhooks[index].queue.count == 0 { state.webhooks[index].hasOverflowed = false }
      guard outcome == .delivered else { return false }
      defer { state.webhooks[index].reported = nil }
      return state.webhooks[index].reported != nil
    }
    if isRecovery {
      report(.recovered(index, "the webhook at \(place(index)) accepts events again"))
    } else if outcome != .delivered {
      fail(answer.sentence(at: place(index), answerTime: configuration.answerTime), of: index)
    }
  }

  /// Reports a failure of a webhook, or of all, unless it is the one that was reported last.
  private func fail(_ sentence: String, of index: Int? = nil) {
    for index in index.map({ $0..<$0 + 1 }) ?? configuration.urls.indices {
      let isNew = state.withLock { state in
        defer { state.webhooks[index].reported = sentence }
        return state.webhooks[index].reported != sentence
      }
      if isNew { report(.failed(index, sentence)) }
    }
  }
}
