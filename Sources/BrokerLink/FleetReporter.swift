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
  /// The only sender that counts of each of these beacons.
  package var pins: [BeaconIdentity: BluetoothAddress] = [:]
  /// The path of the files with the reports that wait, without their suffixes.
  package var outbox: String
  /// The bytes of both files.
  package var outboxBytes = 256_000_000
  /// The seconds from one report to the next.
  package var interval = 1.0

  /// Creates a configuration. The broker knows the receiver by its site and name.
  package init(_ broker: BrokerConfiguration, site: String, receiver: String, outbox: String) {
    self.broker = broker
    self.broker.option = "fleet"
    self.broker.client = "beaconscan-fleet/\(site)/\(receiver)"
    self.site = site
    self.receiver = receiver
    self.outbox = outbox
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
}

/// Reports to a fleet once a second which beacons were received.
///
/// One thread makes the reports, and puts them into the outbox on disk. Another one publishes them
/// in order, and takes each out when the broker has acknowledged it. A report therefore outlives
/// the broker and this process.
package final class FleetReporter: Sendable {
  private struct Kept: ~Copyable {
    var queue: MessageQueue
    var sent = 0
    var isDropping = false
    var isFaulty = false
  }

  private let configuration: FleetConfiguration
  private let connector: BrokerConnector
  private let meter: SightingMeter
  private let outbox: Mutex<Kept>
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
    do throws(StorageError) {
      outbox = Mutex(
        Kept(
          queue: try MessageQueue(
            configuration.outbox, limits: MessageQueue.Limits(bytes: configuration.outboxBytes))))
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

  /// Starts to report, unless it was started before. `receptionLost` returns the reason that
  /// nothing can be received now, or `nil`.
  package func start(receptionLost: @escaping @Sendable () -> String?) {
    connector.start { [self] session throws(MQTTClient.Failure) in
      defer {
        take(from: session)
        outbox.withLock { $0.queue.rewind() }
      }
      try publish(on: session)
    }
    if !thread.start({ [self] in makeReports(receptionLost) }) {
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
    connector.stop(waiting: Self.stopTime)
  }

  // MARK: Reports

  private func makeReports(_ receptionLost: () -> String?) {
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
      meter.exchange(&spare)
      let now = MonotonicTime.now
      let lost = receptionLost()
      report.number += 1
      report.time = .now
      report.seconds = min(max(now.seconds(since: last), 0.001), 3600)
      // What was not received in a stretch without reception at either end means nothing.
      report.reception = (lost ?? lostBefore).map { .lost($0) } ?? .receiving
      report.beacons.removeAll(keepingCapacity: true)
      spare.move(to: &report)
      payload.removeAll(keepingCapacity: true)
      report.write(to: &payload)
      append(report.topic, payload)
      if isLast { return }
      last = now
      lostBefore = lost
      due = due.advanced(bySeconds: configuration.interval)
      // After a suspension, missed reports are not made up: the report says how long it took.
      if due < now { due = now.advanced(bySeconds: configuration.interval) }
    }
  }

  private func append(_ topic: String, _ payload: [UInt8]) {
    let event: FleetEvent? = outbox.withLock { outbox in
      let before = outbox.queue.dropped
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
      take(from: session)
    }
  }

  private func take(from session: MQTTClient) {
    _ = session.takeMessages()
    let tokens = session.takeAcknowledged()
    guard !tokens.isEmpty else { return }
    outbox.withLock { outbox in
      for token in tokens { outbox.queue.acknowledge(token) }
      outbox.sent += tokens.count
      if outbox.queue.waiting == 0 { outbox.isDropping = false }
    }
  }
}
