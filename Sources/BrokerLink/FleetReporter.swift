package import Advertising
import Clocks
import FleetReports
import Storage
import Synchronization

package struct FleetConfiguration: Sendable {
  package var broker: BrokerConfiguration
  package var site: String
  package var receiver: String
  /// The UUIDs of the beacons to report; empty for every beacon.
  package var uuids: [ProximityUUID] = []
  /// The path of the files with the reports that wait, without their suffixes.
  package var outbox: String
  /// The bytes of both files.
  package var outboxBytes = 256_000_000
  /// What the fleet has configured of this receiver.
  package var settings: FleetSettings
  /// The seconds from one report to the next.
  package var interval = 1.0

  /// Creates a configuration. The broker knows the receiver by its site and name.
  package init(_ broker: BrokerConfiguration, site: String, receiver: String, outbox: String) {
    self.broker = broker
    self.broker.option = "fleet"
    self.broker.client = FleetAccount.client(ofSite: site, receiver: receiver)
    self.site = site
    self.receiver = receiver
    self.outbox = outbox
    settings = FleetSettings("\(outbox).settings")
  }

  /// Returns whether a text can name a site or a receiver.
  package static func isName(_ text: String) -> Bool { FleetTopic.isName(text) }
}

package struct FleetStatus: Sendable, Equatable {
  package var isConnected = false
  /// The reports that the broker acknowledged.
  package var sent = 0
  package var waiting = 0
  package var dropped = 0
  package var lastError: String?
}

/// An event of the reporter, as a sentence where there is something to do.
package enum FleetEvent: Sendable, Equatable {
  case broker(BrokerEvent)
  /// Reports that waited were dropped for newer ones. Said once until all reports were sent.
  case dropped(String)
  /// The outbox cannot be written.
  case disk(String)
  case diskRestored
  /// A configuration of the fleet is kept.
  case configured(String)
  /// A configuration of the fleet is not used, or none can be received.
  case refused(String)
}

/// Reports to a fleet once a second which beacons were received.
///
/// One thread makes the reports, and puts them into the outbox on disk. Another one publishes them
/// in order, and takes each out when the broker has acknowledged it. A report therefore outlives
/// the broker and this process. The fleet's configurations come over another connection.
package final class FleetReporter: Sendable {
  private struct Kept: ~Copyable {
    var queue: MessageQueue
    var sent = 0
    /// The reports that were made, and those of earlier processes.
    var made = 0
    /// The number of the last report that was acknowledged.
    var acknowledged = 0
    var isDropping = false
    var isFaulty = false
  }

  private let configuration: FleetConfiguration
  private let connector: BrokerConnector
  private let meter: SightingMeter
  private let outbox: Mutex<Kept>
  private let settings: Mutex<FleetSettings>
  private let configurations: ConfigurationLink
  /// The time since which no configurations can be received.
  private let refusal = Mutex<(since: MonotonicTime, isReported: Bool)?>(nil)
  private let thread = WorkerThread()
  private let report: @Sendable (FleetEvent) -> Void

  private static let restTime = 0.5
  private static let stopTime = 0.9

  /// Creates a reporter of the beacons of a meter. It calls `report` on its own threads.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid, libmosquitto cannot be loaded, or
  ///   the outbox cannot be used.
  package init(
    _ configuration: FleetConfiguration, _ meter: SightingMeter,
    report: @escaping @Sendable (FleetEvent) -> Void = { _ in }
  ) throws(BrokerError) {
    self.configuration = configuration
    self.meter = meter
    self.report = report
    connector = try BrokerConnector(configuration.broker, lastWill: nil) { report(.broker($0)) }
    configurations = try ConfigurationLink(configuration)
    settings = Mutex(configuration.settings)
    do throws(StorageError) {
      let queue = try MessageQueue(
        configuration.outbox, limits: MessageQueue.Limits(bytes: configuration.outboxBytes))
      let made = queue.waiting
      outbox = Mutex(Kept(queue: queue, made: made))
    } catch {
      throw BrokerError("the fleet's reports cannot be kept: \(error)", isOfFile: true)
    }
  }

  package var status: FleetStatus {
    let connection = connector.state
    return outbox.withLock { outbox in
      FleetStatus(
        isConnected: connection.isConnected, sent: outbox.sent, waiting: outbox.queue.waiting,
        dropped: outbox.queue.dropped, lastError: connection.lastError)
    }
  }

  /// The fleet's configuration that is in use, or `nil`.
  package var settingsText: [UInt8]? { settings.withLock(\.text) }

  /// Starts to report, unless it was started before. `receptionLost` returns the reason that
  /// nothing can be received now, or `nil`. `use` changes to a configuration of the fleet, or back
  /// to none, and returns the reason that this is not possible, or `nil`.
  package func start(
    receptionLost: @escaping @Sendable () -> String?,
    use: @escaping @Sendable (_ configuration: [UInt8]?) -> String? = { _ in nil }
  ) {
    connector.start { [self] session throws(MQTTClient.Failure) in
      defer {
        acknowledge(session.takeAcknowledged())
        outbox.withLock { $0.queue.rewind() }
      }
      try publish(on: session)
    }
    configurations.start { [self] text in
      // The next report may be made already.
      let made = outbox.withLock { $0.made }
      settings.withLock { $0.receive(text, next: made + 2) }
    }
    if !thread.start({ [self] in makeReports(receptionLost, use) }) {
      report(
        .broker(
          .failed(
            "no thread can be started for the fleet's reports; end other programs, or raise "
              + "their limit")))
    }
  }

  /// Makes a last report, and stops.
  package func stop() {
    thread.requestStop()
    thread.waitForEnd(seconds: Self.restTime)
    configurations.stop()
    connector.stop(waiting: Self.stopTime)
  }

  // MARK: Reports

  private func makeReports(
    _ receptionLost: () -> String?, _ use: ([UInt8]?) -> String?
  ) {
    var report = ReceiverReport(
      site: configuration.site, receiver: configuration.receiver, boot: .random(in: 0...UInt64.max),
      number: 0, time: .now)
    var payload: [UInt8] = []
    var spare = ReportMeter()
    var lostBefore = receptionLost()
    var last = MonotonicTime.now
    var due = last.advanced(bySeconds: configuration.interval)
    while true {
      while !thread.isStopping {
        let left = due.nanoseconds(since: .now)
        guard left > 0 else { break }
        thread.wake.wait(nanoseconds: left)
      }
      let isLast = thread.isStopping
      if isLast { settings.withLock { $0.stop() } }
      meter.exchange(&spare)
      let now = MonotonicTime.now
      let lost = receptionLost()
      report.number += 1
      report.time = .now
      report.seconds = min(max(now.seconds(since: last), 0.001), 3600)
      // What was not received in a stretch without reception at either end means nothing.
      report.reception = (lost ?? lostBefore).map { .lost($0) } ?? .receiving
      report.configuration = settings.withLock(\.state)
      report.beacons.removeAll(keepingCapacity: true)
      spare.move(to: &report)
      payload.removeAll(keepingCapacity: true)
      report.write(to: &payload)
      append(report.topic, payload)
      if isLast { return }
      configure(lost, use)
      last = now
      lostBefore = lost
      due = due.advanced(bySeconds: configuration.interval)
      // After a suspension, missed reports are not made up: the report says how long it took.
      if due < now { due = now.advanced(bySeconds: configuration.interval) }
    }
  }

  /// Goes on with a configuration that the fleet has sent.
  private func configure(_ receptionLost: String?, _ use: ([UInt8]?) -> String?) {
    let (made, acknowledged) = outbox.withLock { ($0.made, $0.acknowledged) }
    follow(configurations.failure)
    var change = settings.withLock {
      $0.next(at: .now, made: made, acknowledged: acknowledged, receptionLost: receptionLost)
    }
    while let next = change {
      let failure = use(next.text)
      change = settings.withLock { $0.finish(next, failure: failure) }
    }
    for event in settings.withLock({ $0.takeEvents() }) { report(event) }
  }

  /// Reports once that no configurations can be received, while reports can be sent for longer than
  /// it takes to connect again: a failure of the broker is one of the reports too.
  private func follow(_ failure: String?) {
    let longest = 2 * configuration.broker.reconnectDelay.upperBound
    let isNew = refusal.withLock { refusal in
      guard failure != nil, connector.state.isConnected else {
        refusal = nil
        return false
      }
      let since = refusal?.since ?? .now
      let isOver = MonotonicTime.now.seconds(since: since) > longest
      defer { refusal = (since, isOver) }
      return isOver && refusal?.isReported == false
    }
    guard isNew, let failure else { return }
    report(.refused("the fleet's configurations cannot be received: \(failure)"))
  }

  private func append(_ topic: String, _ payload: [UInt8]) {
    let event: FleetEvent? = outbox.withLock { outbox in
      let before = outbox.queue.dropped
      outbox.made += 1
      outbox.queue.append(topic, payload)
      if let fault = outbox.queue.fault, !outbox.isFaulty {
        outbox.isFaulty = true
        return .disk("\(fault); until then, reports to the fleet are kept in memory")
      }
      if outbox.queue.fault == nil, outbox.isFaulty {
        outbox.isFaulty = false
        return .diskRestored
      }
      guard outbox.queue.dropped > before, !outbox.isDropping else { return nil }
      outbox.isDropping = true
      return .dropped(
        "the outbox of the fleet's reports is full, and the oldest are dropped; restore the "
          + "connection to the broker, or raise --fleet-outbox-size")
    }
    connector.thread.wake.send()
    if let event { report(event) }
  }

  // MARK: The broker

  private func publish(on session: MQTTClient) throws(MQTTClient.Failure) {
    let thread = connector.thread
    var deadline: MonotonicTime?
    while true {
      if deadline == nil, thread.isStopping {
        deadline = .now.advanced(bySeconds: Self.restTime)
      }
      while var message = outbox.withLock({ $0.queue.next() }) {
        ReceiverReport.addDelay(to: &message.payload, sentAt: .now)
        try session.publish(
          Outbox.Message(
            token: message.token, topic: message.topic, payload: message.payload,
            isRetained: false))
      }
      let left = deadline?.seconds(since: .now) ?? .infinity
      if left <= 0 || deadline != nil && outbox.withLock({ $0.queue.waiting }) == 0 { return }
      try session.wait(seconds: left, orUntil: thread.wake)
      acknowledge(session.takeAcknowledged())
    }
  }

  private func acknowledge(_ tokens: [UInt64]) {
    guard !tokens.isEmpty else { return }
    outbox.withLock { outbox in
      for token in tokens { outbox.queue.acknowledge(token) }
      outbox.sent += tokens.count
      outbox.acknowledged = outbox.made - outbox.queue.waiting
      if outbox.queue.waiting == 0 { outbox.isDropping = false }
    }
  }
}
