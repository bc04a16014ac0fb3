import Adapters
import ArgumentParser
import BrokerLink
import Dispatch
import Frontends
import Glibc
import KioskService
import Logging
import Ranging
import Records
import Regions
import Scanning
import ServiceCore
import Storage
import Synchronization
import Webhooks

/// The service from its start to its end: the core's events go to the hub, and requests come from the HTTP server.
final class ServeSession {
  private let session: BeaconSession
  private let regions: ServedRegions
  private let hub: KioskHub
  private let log: ServiceLog
  private let options: RuleOptions
  private let configured: [NamedRegion]

  private let recorder: HistoryRecorder?
  private let broker: Broker?
  private let webhooks: WebhookSender?

  init(
    _ session: BeaconSession, _ configured: [NamedRegion], _ rules: RuleOptions,
    _ recorder: HistoryRecorder?, _ broker: BrokerConfiguration?,
    _ webhooks: (webhooks: WebhookConfiguration, events: Set<String>)?, _ log: ServiceLog
  ) throws {
    (self.session, self.configured, options, self.log) = (session, configured, rules, log)
    self.recorder = recorder
    let beacons = session.beacons
    let isLive = session.isLive
    let hub = KioskHub(
      recorder: recorder, version: Beaconscan.configuration.version,
      now: {
        guard !isLive, let to = beacons.received?.to else { return .now }
        return to.wallClockTime(beacons.wallClockOffset)
      },
      isReceiving: { (beacons.fault == nil && beacons.end == nil, beacons.isWanted) })
    self.hub = hub
    do throws(BrokerError) {
      self.broker = try broker.map { configuration throws(BrokerError) in
        try Broker(configuration) { Self.report($0, hub, log) }
      }
    } catch {
      throw CommandError(.usage, error.description)
    }
    do throws(WebhookError) {
      self.webhooks = try webhooks.map { webhooks throws(WebhookError) in
        let sender = try WebhookSender(webhooks.webhooks) {
          Self.report($0, hub, log, keepsEvents: recorder != nil)
        }
        hub.addListener { [unowned hub] event in
          guard webhooks.events.contains(event.kind) else { return }
          sender.send(event.data, id: hub.text(ofID: event.id), number: event.id)
        }
        return sender
      }
    } catch {
      throw CommandError(.unavailable, error.description)
    }
    regions = try ServedRegions(
      beacons, configured: session.client, hub: hub, broker: self.broker, webhooks: self.webhooks,
      rules: rules,
      rangesAlways: recorder != nil || broker != nil)
    resumeWebhooks(webhooks)
    if let sentence = recorder?.fault { reportDisk(sentence, as: "history") }
    if let sentence = session.diskFault {
      reportDisk("\(sentence); the service goes on without stored regions and states", as: "state")
    }
  }

  /// Serves until an interrupt.
  func run(on addresses: [KioskServer.Address], _ access: AccessRules) async throws {
    try regions.configure(configured, options) { [log] name in
      log.notice(
        "the state file has the region '\(name)', which is not named any more; it was removed")
    }
    let kiosk = KioskServer(
      hub, control: regions, rules: access, logger: diagnostics { [log] in log.error($0) })
    let server = try await start(kiosk, on: addresses)
    defer { server.cancel() }
    setDemand()
    broker?.setBeacons(Settings.current.names)
    broker?.start()
    webhooks?.start()
    let hangUp = onHangUp()
    defer { hangUp.cancel() }
    let beat = startHeartbeat()
    defer { beat?.cancel() }
    let added = receiveAdded()
    defer { added.cancel() }
    let watch = watchDisk()
    defer { watch?.cancel() }
    ServiceManagerLink.notify("READY=1\nSTATUS=Serving")
    var failure: CommandError?
    do {
      failure = try await receive()
    } catch let error as CommandError where error.status == .interrupted {
      // A service that nobody used has done its work.
    }
    if let failure { log.error(failure.message) }
    hub.setFault(failure?.message, of: "source")
    // The end of a recording, or of an adapter, is not that of the service: its page says what happened.
    if !Interrupt.isRequested { await interrupted() }
    ServiceManagerLink.notify("STOPPING=1")
    await kiosk.endStreams()
    server.cancel()
    await server.value
    broker?.stop()
    webhooks?.stop()
    recorder?.flush()
    if let failure, session.isLive { throw failure }
  }

  /// Receives events of the core until its source ends.
  private func receive() async throws -> CommandError? {
    var watchdog = Watchdog(session.beacons)
    return try await session.run(other: { event in
      switch event {
      case is Heartbeat:
        if watchdog.isAlive { ServiceManagerLink.notify("WATCHDOG=1") }
      case is Reload: reload()
      default: break
      }
    }) { [hub, regions, log, recorder, broker] event in
      switch event {
      case .ranging(let report):
        hub.receive(report)
        broker?.update(ranging: report)
        recorder?.receive(
          report.beacons, at: report.wallClockTime, isProtected: regions.include,
          failed: { hub.setFault($0, of: "history") })
      case .region(let event): regions.receive(event)
      case .health(let health, let time):
        hub.receive(health, at: time)
        broker?.update(health: health, at: time)
        if health.condition.isFault {
          log.warning(health.sentence)
        } else {
          log.notice(health.sentence)
        }
      case .identity(let finding, _): log.warning("\(finding)")
      default: break
      }
      return .more
    }
  }

  /// Receives the events of the regions that were added over HTTP.
  private func receiveAdded() -> Task<Void, Never> {
    let (manager, client) = (session.beacons.manager, regions.added)
    manager.setReceiving(true, for: client)
    return Task.detached { [regions] in
      while let delivery = await manager.nextDelivery(to: client) {
        if case .region(let event)? = delivery.event as? BeaconEvent { regions.receive(event) }
        delivery.acknowledge()
        delivery.finish()
      }
    }
  }

  /// Ranges beacons while somebody wants them.
  private func setDemand() {
    let (beacons, client) = (session.beacons, session.client)
    hub.onInterest { isInterested in
      if isInterested {
        // Why it cannot be met is in the receiver's state.
        try? beacons.startRanging(RangingRequest(nil), for: client)
      } else {
        beacons.stopRanging(RangingRequest(nil), for: client)
      }
    }
  }

  /// Reports what the link to the broker reports.
  private static func report(_ event: BrokerEvent, _ hub: KioskHub, _ log: ServiceLog) {
    switch event {
    case .connected:
      log.notice("connected to the MQTT broker")
      hub.setFault(nil, of: "broker")
    case .failed(let sentence), .lost(let sentence):
      log.warning(sentence)
      hub.setFault(sentence, of: "broker")
    }
  }

  /// Reports what is reported of a webhook.
  private static func report(
    _ report: WebhookReport, _ hub: KioskHub, _ log: ServiceLog, keepsEvents: Bool
  ) {
    switch report {
    case .failed(let index, let sentence):
      log.warning(sentence)
      hub.setFault(sentence, of: "webhook \(index + 1)")
    case .recovered(let index, let sentence):
      log.notice(sentence)
      hub.setFault(nil, of: "webhook \(index + 1)")
    case .ended(_, let sentence) where keepsEvents:
      log.notice("\(sentence); the history keeps them for the next start")
    case .overflowed(_, let sentence), .ended(_, let sentence): log.warning(sentence)
    }
  }

  /// Delivers what webhooks did not get from the process before, and has the history keep how far each of them is.
  private func resumeWebhooks(_ given: (webhooks: WebhookConfiguration, events: Set<String>)?) {
    guard let recorder, let webhooks, let given else { return }
    let names = given.webhooks.urls.map(\.fingerprint)
    do throws(StorageError) {
      let latest = recorder.latest
      let marks = try recorder.followMarks {
        let marks = zip(names, webhooks.marks).map { ($0, $1 ?? latest) }
        return Dictionary(marks, uniquingKeysWith: min)
      }
      for (index, name) in names.enumerated() {
        webhooks.begin(index, after: marks[name] ?? latest)
        guard let mark = marks[name] else { continue }
        let events = try recorder.events(
          after: mark, of: given.events, limit: given.webhooks.maximumEvents)
        for event in events {
          webhooks.send(event.data, id: hub.text(ofID: event.id), number: event.id, to: index)
        }
        guard !events.isEmpty else { continue }
        log.notice(
          "\(counted(events.count, "event")) of the history wait for the webhook at "
            + given.webhooks.urls[index].place)
      }
    } catch {
      log.error("what webhooks did not get before is not delivered: \(error)")
    }
  }

  /// Reports a disk that refuses at the start: what happens from then on counts all the same.
  private func reportDisk(_ sentence: String, as part: String) {
    log.error(sentence)
    hub.setFault(sentence, of: part)
  }

  /// Looks once a minute whether the disk keeps the state again, where it refused at the start.
  private func watchDisk() -> Task<Void, Never>? {
    guard session.diskFault != nil else { return nil }
    let manager = session.beacons.manager
    return Task.detached { [hub, log] in
      while (try? await Task.sleep(for: .seconds(60))) != nil {
        guard manager.storageFailure == nil else { continue }
        log.notice("regions and states are stored again")
        return hub.setFault(nil, of: "state")
      }
    }
  }

  // MARK: The server

  /// Starts the server, and returns its task when it listens.
  private func start(
    _ server: KioskServer, on addresses: [KioskServer.Address]
  ) async throws -> Task<Void, Never> {
    let (ready, answer) = AsyncStream.makeStream(of: Result<[Int?], CommandError>.self)
    let task = Task.detached {
      do throws(KioskServer.Failure) {
        try await server.run(on: addresses) { answer.yield(.success($0)) }
      } catch {
        answer.yield(.failure(CommandError(.unavailable, error.description)))
      }
      answer.finish()
    }
    for await result in ready {
      for (address, port) in zip(addresses, try result.get()) {
        let place =
          switch address {
          case .host(let host, _):
            "http://\(host.contains(":") ? "[\(host)]" : host):\(port ?? 0)/"
          case .unix(let path): path
          case .inherited(let descriptor): "the socket \(descriptor) of systemd"
          }
        log.notice("serving on \(place)")
      }
      break
    }
    return task
  }

  /// Waits for an interrupt.
  private func interrupted() async {
    let (interrupts, continuation) = AsyncStream.makeStream(of: Void.self)
    let source = Interrupt.onRequest { continuation.yield() }
    defer { source.cancel() }
    // It may have come before.
    if Interrupt.isRequested { return }
    for await _ in interrupts { break }
  }

  // MARK: systemd

  /// An event that goes the way of all events, through the queue of the client that receives them.
  private struct Heartbeat: ServiceEvent {}
  private struct Reload: ServiceEvent {}

  /// Sends heartbeats, where systemd waits for signs of life: what answers them is the loop that receives beacons.
  private func startHeartbeat() -> (any DispatchSourceTimer)? {
    guard let interval = ServiceManagerLink.watchdogInterval, interval > 0 else { return nil }
    let (manager, client) = (session.beacons.manager, session.client)
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now(), repeating: interval / 3, leeway: .milliseconds(100))
    timer.setEventHandler { manager.send(Heartbeat(), to: client) }
    timer.activate()
    return timer
  }

  /// Reads the configuration again on SIGHUP.
  private func onHangUp() -> any DispatchSourceSignal {
    signal(SIGHUP, SIG_IGN)
    let (manager, client) = (session.beacons.manager, session.client)
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
    source.setEventHandler { manager.send(Reload(), to: client) }
    source.activate()
    return source
  }

  /// Reads the command line and the configuration again. What is wrong leaves everything as it is.
  private func reload() {
    ServiceManagerLink.notify(
      "RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now.nanoseconds / 1000)")
    defer { ServiceManagerLink.notify("READY=1") }
    do {
      let given = GivenArguments(CommandLine.arguments.dropFirst())
      let arguments = try Settings.complete(given.words, again: true)
      let command = try ServeCommand.parse(Array(arguments.dropFirst()))
      try regions.configure(command.regions.all, command.rules) { [log] name in
        log.notice("the region '\(name)' is not configured any more; it was removed")
      }
      BeaconNames.give(Settings.current.names)
      broker?.setBeacons(Settings.current.names)
      log.notice(
        "read the configuration again: \(counted(command.regions.all.count, "region"))")
    } catch let error as CommandError {
      log.error(
        "the configuration was not read again; everything stays as it was: \(error.message)")
    } catch {
      let sentence = usageSentence(ServeCommand.message(for: error), subcommand: "serve")
      log.error("the configuration was not read again; everything stays as it was: \(sentence)")
    }
  }
}

/// Whether the receiving loop does its work: the core answers, and the source moves on while it is needed.
private struct Watchdog {
  private let beacons: BeaconService
  private var latest: MonotonicTime?
  private var stillBeats = 0

  init(_ beacons: BeaconService) { self.beacons = beacons }

  /// Called at each heartbeat. A source that stands still for two of three beats although something needs it, and
  /// reports no fault, counts as dead.
  var isAlive: Bool {
    mutating get {
      let now = beacons.received?.to
      defer { latest = now }
      let mayRest = !beacons.isWanted || beacons.fault != nil || beacons.end != nil
      stillBeats = now == latest && !mayRest ? stillBeats + 1 : 0
      return stillBeats < 2
    }
  }
}
