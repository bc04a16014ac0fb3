import CCurl
import Clocks
import Scanning
package import ServiceCore
import Synchronization

/// Posts events to the URLs of a configuration over HTTP, each as the body of a request.
///
/// ```swift
/// let sender = try WebhookSender(configuration, from: events) { report in … }
/// sender.start()
/// sender.wake()  // There is another event.
/// sender.stop()
/// ```
///
/// No call waits for a server. One thread serves all webhooks and sleeps while there is nothing to
/// send. Each webhook has its own position in the events and receives one at a time, in order.
package final class WebhookSender: Sendable {
  private let work: SenderWork

  /// Creates a sender. It reports on its own thread or on that of a caller of its methods.
  ///
  /// - Throws: `WebhookError` if libcurl cannot be loaded.
  package init(
    _ configuration: WebhookConfiguration, from readers: [JournalReader],
    report: @escaping @Sendable (WebhookReport) -> Void = { _ in }
  ) throws(WebhookError) {
    work = SenderWork(configuration, readers, try CurlLibrary.shared.get(), report)
  }

  deinit { work.thread.requestStop() }

  /// Starts to deliver, unless it was started before.
  package func start() { work.start() }

  /// Ends all requests, and reports how many events were not delivered.
  package func stop() { work.stop() }

  /// Makes the thread look for new events.
  package func wake() { work.thread.wake.send() }

  /// The states of the webhooks, in the order of the configuration.
  package var statuses: [WebhookStatus] { work.statuses }
}

/// The sender's thread and the state that it shares with callers.
private final class SenderWork: Sendable {
  private struct Webhook {
    var schedule: DeliverySchedule
    /// The last failure, until a delivery.
    var reported: String?
  }

  private let configuration: WebhookConfiguration
  private let readers: [JournalReader]
  private let curl: CurlLibrary
  private let report: @Sendable (WebhookReport) -> Void
  private let webhooks: Mutex<[Webhook]>
  let thread = WorkerThread()

  /// The longest wait for the thread, in seconds: libcurl may be waiting for the name resolver.
  private static let stopTime = 0.5

  init(
    _ configuration: WebhookConfiguration, _ readers: [JournalReader], _ curl: CurlLibrary,
    _ report: @escaping @Sendable (WebhookReport) -> Void
  ) {
    self.configuration = configuration
    self.readers = readers
    self.curl = curl
    self.report = report
    webhooks = Mutex(
      readers.map { reader in
        Webhook(schedule: DeliverySchedule(configuration, position: reader.begin()))
      })
  }

  var statuses: [WebhookStatus] {
    let webhooks = webhooks.withLock { $0 }
    return configuration.urls.indices.map { index in
      let webhook = webhooks[index]
      return WebhookStatus(
        place: place(index), deliveries: webhook.schedule.deliveries,
        failures: webhook.schedule.failures, refused: webhook.schedule.refused,
        gaps: webhook.schedule.gaps,
        waiting: readers[index].count(after: webhook.schedule.position),
        lastError: webhook.reported)
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
    // Entries before the position need not be read again after a restart.
    for (reader, webhook) in zip(readers, webhooks.withLock { $0 }) {
      reader.mark(webhook.schedule.position)
    }
    for (index, status) in statuses.enumerated() where status.waiting > 0 {
      let events = status.waiting == 1 ? "1 event was" : "\(status.waiting) events were"
      report(.ended(index, "\(events) not delivered to the webhook at \(status.place)"))
    }
  }

  private static let noMemory = "there is no memory for webhooks; end other programs"

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

  /// Starts due attempts. Returns the seconds until the next one, or `nil` if asked to stop.
  private func startRequests(_ requests: CurlRequests) -> Double? {
    guard !thread.isStopping else { return nil }
    let now = MonotonicTime.now
    var pause = Double.infinity
    for index in configuration.urls.indices {
      let schedule = webhooks.withLock { $0[index].schedule }
      guard let due = schedule.due(at: now) else { continue }
      guard due == now else {
        pause = min(pause, due.seconds(since: now))
        continue
      }
      let next = readers[index].next(after: schedule.position)
      guard let entry = next.entry else {
        webhooks.withLock { $0[index].schedule.skip(to: next.position) }
        continue
      }
      let message = WebhookMessage(
        number: entry.id, id: readers[index].journal.text(of: entry.id), body: entry.record)
      webhooks.withLock {
        $0[index].schedule.begin(message, after: next.position, hasGap: next.hasMissed)
      }
      if next.hasMissed {
        report(
          .missed(
            index,
            "the webhook at \(place(index)) was not reached for so long that events for it are gone"
          ))
      }
      do throws(CurlRequests.NoMemory) {
        try requests.start(index, message.body, headers: headers(of: message))
      } catch {
        _ = webhooks.withLock {
          $0[index].schedule.end(.failed(retryAfter: 0), at: .now, factor: 1)
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
      // Otherwise libcurl waits for permission to send a large body.
      "Expect:",
    ]
    if let secret = configuration.secret {
      let signature = secret.signature(id: message.id, timestamp: timestamp, body: message.body)
      headers.append("webhook-signature: \(signature)")
    }
    return headers
  }

  private func end(_ index: Int, _ answer: WebhookAnswer) {
    let outcome = answer.outcome
    let (position, isRecovery) = webhooks.withLock { webhooks in
      let position = webhooks[index].schedule.end(
        outcome, at: .now, factor: .random(in: 0.75...1.25))
      guard outcome == .delivered else { return (position, false) }
      defer { webhooks[index].reported = nil }
      return (position, webhooks[index].reported != nil)
    }
    if let position { readers[index].mark(position) }
    if isRecovery {
      report(.recovered(index, "the webhook at \(place(index)) accepts events again"))
    } else if outcome != .delivered {
      fail(answer.sentence(at: place(index), answerTime: configuration.answerTime), of: index)
    }
  }

  /// Reports a failure of a webhook, or of all, unless it was the last one reported.
  private func fail(_ sentence: String, of index: Int? = nil) {
    for index in index.map({ $0..<$0 + 1 }) ?? configuration.urls.indices {
      let isNew = webhooks.withLock { webhooks in
        defer { webhooks[index].reported = sentence }
        return webhooks[index].reported != sentence
      }
      if isNew { report(.failed(index, sentence)) }
    }
  }
}
