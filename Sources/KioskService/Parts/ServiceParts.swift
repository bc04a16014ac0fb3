import BrokerLink
import Dispatch
import Glibc
import HTTPServing
import Positioning
import Records
import Scanning
import ServiceCore
import Synchronization

extension ServiceRun {
  func receive() async throws(ServiceFailure) {
    while let delivery = await client.nextDelivery() {
      switch delivery.event {
      case let event as BeaconEvent: try receive(event)
      case let event as LocationEvent: receive(event)
      default: break
      }
      delivery.complete()
    }
  }

  private func receive(_ event: BeaconEvent) throws(ServiceFailure) {
    switch event {
    case .ranging(let report):
      hub.receive(report)
      broker?.update { $0.update(ranging: report) }
      record(report)
    case .health(let health, _):
      record(event, health.sentence, isFault: health.condition.isFault)
    case .identity(let finding, _): log.warning("\(finding)")
    case .refused: throw forbidden
    case .ended(let sentence, isFailure: true):
      let failure = ServiceFailure(.unavailable, sentence)
      sourceFailure.withLock { $0 = failure }
      log.error(sentence)
      hub.setFault(sentence, of: "source")
    default: break
    }
  }

  private func receive(_ event: LocationEvent) {
    switch event {
    case .fixes(let fixes):
      guard let fix = fixes.last else { return }
      let record = hub.receive(fix)
      broker?.update { $0.update(location: record) }
    case .heading(let heading): hub.receive(heading)
    case .health(let health, _):
      record(event, health.sentence, isFault: health.condition.isFault)
    case .ended(let sentence, isFailure: true):
      log.error(sentence)
      hub.setFault(sentence, of: "locations")
    default: break
    }
  }

  private func record(_ event: any ServiceEvent, _ sentence: String, isFault: Bool) {
    manager.journal.append(event)
    if isFault { log.warning(sentence) } else { log.notice(sentence) }
  }

  /// Adds a report to the hourly presence, which is stored once a minute.
  private func record(_ report: RangingReport) {
    guard configuration.recordsPresence else { return }
    let time = report.wallClockTime
    let isDue = presence.withLock { presence in
      presence.receive(report.beacons, at: time)
      return presence.isDue(at: time)
    }
    if isDue { storePresence() }
  }

  func storePresence() {
    manager.addPresence(
      presence.withLock { [hub] presence in presence.removeAll { hub.include($0) } })
  }

  var forbidden: ServiceFailure {
    if case .notPermitted(let sentence)? = beacons.scanner?.availability {
      return ServiceFailure(.noPermission, sentence)
    }
    return ServiceFailure(
      .noPermission,
      "the administrator does not allow beaconscan to receive; see \(SystemAuthorization.path)")
  }

  func serve(
    with server: HTTPServer, _ body: @Sendable () async throws -> Void
  ) async throws {
    let (ready, answer) = AsyncStream.makeStream(of: Result<[Int?], ServiceFailure>.self)
    try await withThrowingTaskGroup { tasks in
      tasks.addTask { [configuration] in
        do throws(ServiceFailure) {
          try await server.run(on: configuration.addresses) { answer.yield(.success($0)) }
        } catch {
          answer.yield(.failure(error))
        }
        answer.finish()
      }
      for await result in ready {
        report(try result.get())
        break
      }
      do {
        try await body()
      } catch {
        await server.endStreams()
        tasks.cancelAll()
        throw error
      }
      await server.endStreams()
      tasks.cancelAll()
    }
  }

  private func report(_ ports: [Int?]) {
    for (address, port) in zip(configuration.addresses, ports) {
      let place =
        switch address {
        case .host(let host, _):
          "http://\(host.contains(":") ? "[\(host)]" : host):\(port ?? 0)/"
        case .unix(let path): path
        case .inherited(let descriptor): "the socket \(descriptor) of systemd"
        }
      log.notice("serving on \(place)")
    }
  }

  /// Sends systemd watchdog notifications, if it requires them.
  func notifyWatchdog() async {
    guard let interval = SystemdLink.watchdogInterval, interval > 0 else { return }
    var latest: MonotonicTime?
    var stillBeats = 0
    while !Task.isCancelled {
      // The notification needs an answer of the core and of the journal, and a source that moves:
      // one that is needed, has no fault and does not move for two beats counts as hung.
      let now = beacons.received?.to
      let mayRest = !beacons.isWanted || beacons.fault != nil || beacons.end != nil
      stillBeats = now == latest && !mayRest ? stillBeats + 1 : 0
      latest = now
      await manager.journal.settled()
      if stillBeats < 2 { SystemdLink.notify("WATCHDOG=1") }
      try? await Task.sleep(for: .seconds(interval / 3), tolerance: .milliseconds(100))
    }
  }

  func reloadOnSignal(_ read: Reload) async {
    let (requests, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
    source.setEventHandler { continuation.yield() }
    source.activate()
    defer { source.cancel() }
    for await _ in requests { reload(read) }
  }

  /// Reloads the configuration. If it is not valid, nothing changes.
  private func reload(_ read: Reload) {
    SystemdLink.notify("RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.now.nanoseconds / 1000)")
    defer { SystemdLink.notify("READY=1") }
    // The fleet's is read under the lock: it may change until then.
    if let reason = configure(read, { self.fleet?.settingsText }) {
      log.error("the configuration was not read again; everything stays as it was: \(reason)")
    }
  }

  /// Changes to a configuration of the fleet, or back to none. Returns the reason that this is not
  /// possible, or `nil`.
  func use(_ text: [UInt8]?, _ read: Reload) -> String? { configure(read) { text } }

  private func configure(_ read: Reload, _ fleet: () -> [UInt8]?) -> String? {
    reloading.withLock { _ in
      do {
        try read(fleet()) { configuration in
          for name in try regions.configure(configuration) {
            log.notice("the region '\(name)' is not configured any more; it was removed")
          }
          broker?.update { $0.setBeacons(configuration.names) }
          let count = configuration.regions.count + configuration.circles.count
          log.notice("read the configuration again: \(counted(count, "region"))")
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
  }

  /// Logs when the disk fails and recovers, and when a database was damaged.
  func watchDisk() async {
    let journal = manager.journal
    guard journal.isStored else { return }
    var reported: String?
    // Warnings of the opening were logged then.
    var warnings = journal.warnings.count
    while !Task.isCancelled {
      for warning in journal.warnings.dropFirst(warnings) { log.warning(warning) }
      warnings = journal.warnings.count
      let sentence = journal.fault
      if sentence != reported {
        if let sentence {
          log.error("\(sentence); until then, events are kept in memory")
        } else {
          log.notice("events, regions and states are stored again")
        }
        reported = sentence
      }
      try? await Task.sleep(for: .seconds(10), tolerance: .seconds(2))
    }
  }
}
