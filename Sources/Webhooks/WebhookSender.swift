import CCurl
import Clocks
import Scanning
package import ServiceCore
import Synchronization

/// Posts events to the URLs of a configuration over HTTP, each as the body of a request.
///
/// No call waits for a server. One thread serves all webhooks, and retains the sender until
/// ``stop()``. Each webhook has its own position in the events and receives one at a time, in
/// order.
package final class WebhookSender: Sendable {
  private let configuration: WebhookConfiguration
  private let readers: [JournalReader]
  private let curl: CurlLibrary
  private let report: @Sendable (WebhookReport) -> Void
  private let schedules: Mutex<[DeliverySchedule]>
  private let thread = WorkerThread()

  /// The longest wait for the thread, in seconds: libcurl may be waiting for the name resolver.
  private static let stopTime = 0.5

  /// Creates a sender. It reports on its own thread or on that of a caller of its methods.
  ///
  /// - Throws: `WebhookError` if libcurl, or libcrypto for a secret, cannot be loaded.
  package init(
    _ configuration: WebhookConfiguration, from readers: [JournalReader],
    report: @escaping @Sendable (WebhookReport) -> Void = { _ in }
  ) throws(WebhookError) {
    curl = try CurlLibrary.shared.get()
    if configuration.secret != nil { _ = try OpenSSLLibrary.shared.get() }
    self.configuration = configuration
    self.readers = readers
    self.report = report
    let schedules = zip(configuration.urls, readers).map { url, reader in
      DeliverySchedule(configuration, place: url.place, position: reader.begin())
    }
    self.schedules = Mutex(schedules)
  }

  package var statuses: [WebhookStatus] {
    zip(readers, schedules.withLock { $0 }).map { reader, schedule in
      var status = schedule.status
      status.waiting = reader.count(after: schedule.position)
      return status
    }
  }

  private func place(_ index: Int) -> String { configuration.urls[index].place }

  package func start() {
    guard !thread.start({ [self] in run() }) else { return }
    fail("no thread can be started for webhooks; end other programs, or raise their limit")
  }

  /// Ends all requests, and reports how many events were not delivered.
  package func stop() {
    thread.requestStop()
    thread.waitForEnd(seconds: Self.stopTime)
    // Entries before the position need not be read again after a restart.
    for (reader, schedule) in zip(readers, schedules.withLock { $0 }) {
      reader.mark(schedule.position)
    }
    for (index, status) in statuses.enumerated() where status.waiting > 0 {
      let events = status.waiting == 1 ? "1 event was" : "\(status.waiting) events were"
      report(.ended(index, "\(events) not delivered to the webhook at \(status.place)"))
    }
  }

  package func wake() { thread.wake.send() }

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

  private func startRequests(_ requests: CurlRequests) -> Double? {
    guard !thread.isStopping else { return nil }
    let now = MonotonicTime.now
    var pause = Double.infinity
    for index in configuration.urls.indices {
      let schedule = schedules.withLock { $0[index] }
      guard let due = schedule.due(at: now) else { continue }
      guard due == now else {
        pause = min(pause, due.seconds(since: now))
        continue
      }
      let next = readers[index].next(after: schedule.position)
      guard let entry = next.entry else {
        schedules.withLock { $0[index].skip(to: next.position) }
        continue
      }
      schedules.withLock {
        $0[index].begin(entry.id, after: next.position, hasGap: next.hasMissed)
      }
      if next.hasMissed {
        report(
          .missed(
            index,
            "the webhook at \(place(index)) was not reached for so long that events for it are gone"
          ))
      }
      do throws(CurlRequests.NoMemory) {
        let id = readers[index].journal.text(of: entry.id)
        try requests.start(index, entry.record, headers: headers(id: id, body: entry.record))
      } catch {
        _ = schedules.withLock {
          $0[index].end(.failed(retryAfter: 0), at: .now, factor: 1)
        }
        fail(Self.noMemory, of: index)
        pause = 0
      }
    }
    return pause
  }

  /// Returns the headers of an event. Receivers can discard duplicates by its text `id`, which is
  /// that of every attempt.
  private func headers(id: String, body: [UInt8]) -> [String] {
    let timestamp = WallClockTime.now.nanoseconds / 1_000_000_000
    var headers = [
      "Content-Type: application/json", "webhook-id: \(id)",
      "webhook-timestamp: \(timestamp)",
      // Otherwise libcurl waits for permission to send a large body.
      "Expect:",
    ]
    if let secret = configuration.secret {
      let signature = secret.signature(id: id, timestamp: timestamp, body: body)
      headers.append("webhook-signature: \(signature)")
    }
    return headers
  }

  private func end(_ index: Int, _ answer: WebhookAnswer) {
    let outcome = answer.outcome
    let (position, isRecovery) = schedules.withLock { schedules in
      let position = schedules[index].end(outcome, at: .now, factor: .random(in: 0.75...1.25))
      guard outcome == .delivered else { return (position, false) }
      defer { schedules[index].status.lastError = nil }
      return (position, schedules[index].status.lastError != nil)
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
      let isNew = schedules.withLock { schedules in
        defer { schedules[index].status.lastError = sentence }
        return schedules[index].status.lastError != sentence
      }
      if isNew { report(.failed(index, sentence)) }
    }
  }
}
