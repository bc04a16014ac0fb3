import BrokerLink
import Frontends
import Glibc
package import HTTPServing
package import Logging
package import Positioning
import Records
package import Scanning
import ServiceCore
import Storage
import Synchronization
import Webhooks

/// The service, as concurrent parts around one journal.
package final class ServiceRun: Sendable {
  /// Reads the configuration again, with that of a fleet if there is one, and calls a function with
  /// it. If one of the two throws, nothing changes.
  package typealias Reload =
    @Sendable (_ fleet: [UInt8]?, (RegionConfiguration) throws -> Void) throws -> Void

  let configuration: ServiceConfiguration
  let log: ServiceLog
  private let authorization = AuthorizationOnStart()
  let beacons: BeaconService
  let client: ServiceClient
  let hub: KioskHub
  let regions: RegionControl
  let broker: Broker<Publisher>?
  let fleet: FleetReporter?
  let webhooks: WebhookSender?
  private let apps: AppsPart?
  let presence = Mutex(PresenceMeter())
  /// Held while the configuration is read again.
  let reloading = Mutex(())
  /// The failure that ended the source, or `nil` while it runs and after a normal end.
  let sourceFailure = Mutex<ServiceFailure?>(nil)

  var manager: ServiceManager { beacons.manager }

  package init(
    _ configuration: ServiceConfiguration, scanner: (any Scanner)?,
    locationSource: (any LocationSource)? = nil,
    appLocationSource: (() -> any LocationSource)? = nil, log: ServiceLog, logger: Logger
  ) throws(ServiceFailure) {
    self.configuration = configuration
    self.log = log
    try Self.takeOver(configuration)
    let format = EventFormat(rules: configuration.regions.rules)
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = "beaconscan"
    settings.persistence = configuration.database.map { .file($0) } ?? .none
    settings.history = configuration.history
    settings.journalFormat = { format.describe($0) }
    settings.authorization = authorization
    settings.logger = logger
    let manager = ServiceManager(settings)
    if let fault = manager.storageFault(waiting: false), !fault.isOfDisk {
      throw ServiceFailure(.cannotCreate, fault.sentence)
    }
    let meter = configuration.fleet.map {
      SightingMeter(uuids: $0.uuids, pins: configuration.beacons.pins)
    }
    let tapped = scanner.flatMap { scanner in meter.map { TappedScanner(scanner, $0.receive) } }
    let beacons = BeaconService(
      manager, scanner: tapped ?? scanner, configuration: configuration.beacons)
    self.beacons = beacons
    let locations = locationSource.map { LocationService(manager, source: $0) }
    client = manager.addClient(isReceiving: false, pacesRecordings: true)
    let isRecorded = scanner?.isRecorded ?? locationSource?.isRecorded ?? false
    hub = KioskHub(
      manager.journal, format: format, isRecorded: isRecorded,
      hasLocations: locations != nil, version: configuration.version,
      now: {
        guard isRecorded else { return .now }
        if let to = beacons.received?.to { return to.wallClockTime(beacons.wallClockOffset) }
        guard let locations, let fix = locations.latestFix else { return .now }
        return fix.time.wallClockTime(locations.wallClockOffset)
      },
      isReceiving: { (beacons.fault == nil && beacons.end == nil, beacons.isWanted) })
    let hub = hub
    let rangesAlways = configuration.recordsPresence || configuration.broker != nil
    hub.setRanging(rangesAlways)
    let followsLocation = locations != nil && configuration.broker != nil
    hub.setLocating(followsLocation)
    do throws(BrokerError) {
      broker = try configuration.broker.map { broker throws(BrokerError) in
        var broker = broker
        broker.hasLocations = locations != nil
        broker.pageURL = configuration.pageURL
        return try Broker(broker, manager.journal) { Self.report($0, hub, log) }
      }
      fleet = try configuration.fleet.flatMap { fleet throws(BrokerError) in
        try meter.map { meter throws(BrokerError) in
          try FleetReporter(fleet, meter) { Self.report($0, hub, log) }
        }
      }
    } catch {
      throw ServiceFailure(error.isOfFile ? .cannotCreate : .usage, error.description)
    }
    do throws(WebhookError) {
      webhooks = try configuration.webhooks.map { webhooks throws(WebhookError) in
        let readers = webhooks.webhooks.urls.map { url in
          JournalReader(
            manager.journal, name: "webhook:\(url.fingerprint)", kinds: webhooks.events)
        }
        return try WebhookSender(webhooks.webhooks, from: readers) {
          Self.report($0, hub, log)
        }
      }
    } catch {
      throw ServiceFailure(.unavailable, error.description)
    }
    apps = try configuration.apps.map { apps throws(ServiceFailure) in
      // The service itself may need no locations.
      let shared = locations ?? LocationService(manager, source: appLocationSource?())
      return try AppsPart(
        apps, beacons: beacons, locations: shared, settings: configuration.beacons, logger: logger)
    }
    regions = RegionControl(
      beacons, locations, configured: client, hub: hub, configuration.regions,
      rangesAlways: rangesAlways)
    hub.onChange { [weak hub, broker, webhooks] change in
      if let hub { Self.follow(change, hub, broker, webhooks) }
    }
    do throws(RegionRefusal) {
      for name in try regions.configure(configuration.regions) {
        log.notice(
          "the database has the region '\(name)', which is not named any more; it was removed")
      }
    } catch {
      throw ServiceFailure(.unavailable, error.sentence)
    }
    // Errors are in the source's state.
    let ranging = BeaconClient(client, of: beacons)
    let locating = locations.map { [client] in LocationClient(client, of: $0) }
    try? locating?.startVisits()
    if followsLocation { Self.locate(locating, isInterested: false) }
    if let fleet = configuration.fleet {
      // Its reports come from the scanner. The request has the scanner receive everything.
      let reported = BeaconClient(manager.addClient(isReceiving: false), of: beacons)
      let requests = fleet.uuids.map { RangingRequest(BeaconConstraint(uuid: $0)) }
      try? reported.startRanging(requests.isEmpty ? [RangingRequest(nil)] : requests)
    }
    hub.onInterest { isInterested in
      hub.setRanging(isInterested || rangesAlways)
      if isInterested {
        try? ranging.startRanging(RangingRequest(nil))
      } else {
        ranging.stopRanging(RangingRequest(nil))
      }
      hub.setLocating(isInterested || followsLocation)
      if isInterested || followsLocation {
        Self.locate(locating, isInterested: isInterested)
      } else {
        locating?.stopUpdates()
      }
      guard let locating, locating.service.source?.hasCompass == true else { return }
      if isInterested {
        try? locating.startHeadings()
      } else {
        locating.stopHeadings()
      }
    }
  }

  /// Starts location updates: all fixes on demand, else a coarse one each minute for the broker.
  private static func locate(_ locations: LocationClient?, isInterested: Bool) {
    var settings = UpdateSettings()
    settings.pausesAutomatically = false
    if !isInterested {
      settings.accuracy = .hundredMeters
      settings.interval = 60
    }
    try? locations?.startUpdates(settings)
  }

  /// Adopts the regions of the separate database that versions before 0.2 used, once.
  static func takeOver(_ configuration: ServiceConfiguration) throws(ServiceFailure) {
    guard let path = configuration.database, let old = configuration.formerDatabase,
      StatePath.isFile(old)
    else { return }
    do throws(StorageError) {
      let former = try Store(.file(old))
      let registrations = former.registrations
      former.close()
      let store = try Store(.file(path), limits: configuration.history)
      if store.registrations.isEmpty {
        try store.writeAndWait(registrations.map { .register($0) })
      }
      store.close()
      // Otherwise regions that are removed later would return.
      try StatePath.setAside(old)
    } catch {
      // If the disk fails now, a later start retries.
      if error.isOfDisk { return }
      throw ServiceFailure(.cannotCreate, "\(error)")
    }
  }

  /// Serves until `interrupt` returns. SIGHUP and a configuration of the fleet call `reload`.
  ///
  /// - Throws: `ServiceFailure` if the service cannot start, or its source failed.
  package func run(
    reload: @escaping Reload,
    until interrupt: @escaping @Sendable () async -> Void
  ) async throws(ServiceFailure) {
    let requests = RequestCounts()
    let routes = Routes(
      hub: hub, control: regions, countsOfCore: { [self] in counts }, counts: requests,
      consent: apps?.consent)
    var rules = configuration.access
    rules.protectedPaths = [Routes.consent]
    let server = HTTPServer(routes, rules: rules, counts: requests)
    // Otherwise SIGHUP would end the process until its handler is active.
    signal(SIGHUP, SIG_IGN)
    var failure: ServiceFailure?
    // The first request must see the configured regions, not those of the process before.
    await manager.journal.settled()
    do {
      try await serve(with: server) { [self] in
        try begin(reload)
        try await withThrowingTaskGroup { parts in
          parts.addTask { try await self.receive() }
          parts.addTask { await self.notifyWatchdog() }
          parts.addTask { await self.reloadOnSignal(reload) }
          parts.addTask { await self.watchDisk() }
          parts.addTask {
            await interrupt()
            throw CancellationError()
          }
          // The service outlives the end of a recording or adapter, and its page shows the reason.
          do {
            for try await _ in parts {}
          } catch is CancellationError {
            parts.cancelAll()
          }
        }
      }
    } catch let error as ServiceFailure {
      failure = error
    } catch {
      failure = ServiceFailure(.unavailable, "\(error)")
    }
    SystemdLink.notify("STOPPING=1")
    await end()
    if let failure { throw failure }
    if let failure = sourceFailure.withLock({ $0 }), !isRecorded { throw failure }
  }

  private var isRecorded: Bool { beacons.scanner?.isRecorded ?? true }

  private func begin(_ reload: @escaping Reload) throws(ServiceFailure) {
    broker?.update { $0.setBeacons(configuration.regions.names) }
    broker?.start()
    fleet?.start(
      receptionLost: { [beacons] in beacons.receptionLost },
      use: { [self] in use($0, reload) })
    webhooks?.start()
    client.setReceiving(true)
    authorization.start()
    manager.requestAuthorization(.authorizedAlways)
    guard manager.authorizationStatus.isAuthorized else { throw forbidden }
    try apps?.start()
    SystemdLink.notify("READY=1\nSTATUS=Serving")
  }

  private func end() async {
    client.remove()
    await apps?.stop()
    await manager.stop()
    storePresence()
    await manager.journal.settled()
    broker?.stop()
    fleet?.stop()
    webhooks?.stop()
    if let sentence = manager.close() {
      log.error("not everything could be stored at the end: \(sentence)")
    }
  }

  private static func report(_ event: BrokerEvent, _ hub: KioskHub, _ log: ServiceLog) {
    switch event {
    case .connected:
      log.notice("connected to the MQTT broker")
      hub.setFault(nil, of: "broker")
    case .failed(let sentence):
      log.warning(sentence)
      hub.setFault(sentence, of: "broker")
    }
  }

  private static func report(_ event: FleetEvent, _ hub: KioskHub, _ log: ServiceLog) {
    switch event {
    case .broker(.connected):
      log.notice("connected to the fleet's MQTT broker")
      hub.setFault(nil, of: "fleet")
    case .broker(.failed(let sentence)):
      log.warning(sentence)
      hub.setFault(sentence, of: "fleet")
    case .dropped(let sentence): log.error(sentence)
    case .disk(let sentence):
      log.error(sentence)
      hub.setFault(sentence, of: "outbox")
    case .diskRestored:
      log.notice("reports to the fleet are kept on disk again")
      hub.setFault(nil, of: "outbox")
    case .configured(let sentence): log.notice(sentence)
    case .refused(let sentence): log.warning(sentence)
    }
  }

  private static func report(_ report: WebhookReport, _ hub: KioskHub, _ log: ServiceLog) {
    switch report {
    case .failed(let index, let sentence):
      log.warning(sentence)
      hub.setFault(sentence, of: "webhook \(index + 1)")
    case .recovered(let index, let sentence):
      log.notice(sentence)
      hub.setFault(nil, of: "webhook \(index + 1)")
    case .missed(_, let sentence): log.warning(sentence)
    case .ended(_, let sentence):
      log.notice(
        hub.journal.isStored ? "\(sentence); the next start goes on with them" : sentence)
    }
  }

  /// Passes a change of the journal to its observers besides the hub. They must not block.
  private static func follow(
    _ change: JournalChange, _ hub: KioskHub, _ broker: Broker<Publisher>?,
    _ webhooks: WebhookSender?
  ) {
    guard case .entry(let entry) = change else { return }
    webhooks?.wake()
    guard let broker else { return }
    if let line = entry.line {
      broker.update(wakes: true) { $0.update(region: line, entry.record) }
    } else if entry.event is RegionsChanged {
      let regions = hub.regions.map { region in
        BrokerRegion(
          region.name, state: region.state, beacons: region.beacons,
          countsBeacons: region.circle == nil)
      }
      broker.update { $0.setRegions(regions) }
    } else if case BeaconEvent.health? = entry.event {
      broker.update { $0.update(health: entry.record) }
    } else if case LocationEvent.visit? = entry.event {
      broker.wake()
    }
  }
}

extension BeaconService {
  /// The reason that nothing is received now, or `nil`.
  fileprivate var receptionLost: String? {
    end ?? fault?.sentence ?? (received == nil ? "nothing has been received yet" : nil)
  }
}
