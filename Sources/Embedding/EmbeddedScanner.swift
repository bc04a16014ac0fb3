import FoundationEssentials
import Frontends
import Glibc
import LocationSources
import Logging
import Positioning
import Regions
import Scanning
import ServiceCore

/// A scanner in a program of another language. It delivers its events as lines of JSON.
package final class EmbeddedScanner: Sendable {
  private let manager: ServiceManager
  private let client: ServiceClient
  private let feed: EventFeed

  static let forbidden =
    "this program may not receive, as the administrator or its user decided; see "
    + "\(SystemAuthorization.path) and 'beaconscan apps'"
  static let undecided =
    "nobody has decided whether this program may receive; answer by 'beaconscan agent'"

  /// Starts to receive. A live scanner that cannot receive yet reports it in a `health` record.
  package convenience init(_ options: EmbeddingOptions) throws(EmbeddingError) {
    try self.init(options, environment: ProcessInfo.processInfo.environment)
  }

  convenience init(
    _ options: EmbeddingOptions, environment: [String: String]
  ) throws(EmbeddingError) {
    do {
      try options.check()
      if let daemon = try options.link(environment, Self.logger(options)) {
        try self.init(options, through: daemon)
      } else {
        try self.init(options, options.open())
      }
    } catch {
      throw EmbeddingError(error)
    }
  }

  /// Starts to receive from sources. At most `limit` events wait.
  convenience init(
    _ options: EmbeddingOptions, _ sources: EmbeddedSources, limit: Int = EventFeed.limit
  ) throws {
    for availability in [sources.scanner?.availability, sources.locations?.availability] {
      if case .notPermitted(let sentence)? = availability { throw EmbeddingError(sentence) }
    }
    let authorization = AuthorizationOnStart()
    var settings = Self.settings(options)
    if let application = options.application { settings.applicationIdentifier = application }
    settings.persistence = options.stateFile.map { .file($0) } ?? .none
    settings.authorization = authorization
    let manager = ServiceManager(settings)
    if let failure = manager.storageFailure { throw EmbeddingError(failure) }
    let configuration = try options.configuration
    try self.init(
      options, manager, limit: limit,
      beacons: sources.scanner.map {
        BeaconService(manager, scanner: $0, configuration: configuration)
      },
      locations: sources.locations.map { LocationService(manager, source: $0) },
      tracks: sources.tracks)
    authorization.start()
    try requestAuthorization(.authorizedAlways)
  }

  /// Starts to receive from a daemon.
  private convenience init(_ options: EmbeddingOptions, through daemon: DaemonLink) throws {
    var settings = Self.settings(options)
    settings.persistence = .none
    settings.daemon = daemon
    let manager = ServiceManager(settings)
    let beacons = options.needsBeacons ? BeaconService(manager, scanner: nil) : nil
    let locations = options.locationOption.map { _ in LocationService(manager, source: nil) }
    try self.init(
      options, manager, limit: EventFeed.limit, beacons: beacons, locations: locations, tracks: nil)
    try requestAuthorization(options.always ? .authorizedAlways : .authorizedWhenInUse)
    // The daemon may have received since the first request, before this client could be told.
    beacons.map { BeaconClient(client, of: $0).reportReceiverStates() }
    locations.map { LocationClient(client, of: $0).reportHealth() }
    guard daemon.isConnected, manager.authorizationStatus == .notDetermined else { return }
    if beacons != nil {
      client.send(
        BeaconEvent.health(
          ScannerHealth(
            .notPermitted, at: .now, isReceptionLost: true, sentence: Self.undecided), at: .now))
    } else {
      client.send(
        LocationEvent.health(
          LocationHealth(.notPermitted, at: .now, sentence: Self.undecided), at: .now))
    }
  }

  /// Makes the requests of the options. Without a daemon, they wait for the authorization.
  private init(
    _ options: EmbeddingOptions, _ manager: ServiceManager, limit: Int, beacons: BeaconService?,
    locations: LocationService?, tracks: TrackReplay?
  ) throws {
    let regions = try options.rules.apply(to: options.regions)
    var events = MonitorEvents(rules: try options.configuration.rules)
    guard let feed = EventFeed(options, events: events, limit: limit) else {
      throw EmbeddingError(
        "the process has no file descriptors left; close some, or raise its limit")
    }
    self.manager = manager
    self.feed = feed
    // A daemon keeps the regions of the application, and those of a process while it lives.
    let group =
      options.always || manager.configuration.daemon == nil
      ? ClientGroup.application : .ofProcess()
    client = manager.addClient(in: group, isReceiving: false) { feed.receive($0) }
    do {
      if let beacons {
        try Self.request(options, regions, by: BeaconClient(client, of: beacons), &events)
      }
      if let locations {
        try Self.request(options, by: LocationClient(client, of: locations), &events)
      }
      feed.begin(
        EventFeed.Services(client: client, beacons: beacons, locations: locations, tracks: tracks),
        events)
    } catch {
      client.remove()
      let isDenied =
        error as? BeaconServiceError == .denied || error as? LocationServiceError == .denied
      throw isDenied ? EmbeddingError(Self.forbidden) : EmbeddingError(error)
    }
    client.setReceiving(true)
  }

  private func requestAuthorization(_ wanted: AuthorizationStatus) throws(EmbeddingError) {
    manager.requestAuthorization(wanted)
    let status = manager.authorizationStatus
    // Only a daemon may still ask someone.
    guard status.isAuthorized || status == .notDetermined && manager.configuration.daemon != nil
    else {
      stop()
      throw EmbeddingError(Self.forbidden)
    }
  }

  private static func settings(_ options: EmbeddingOptions) -> ServiceManager.Configuration {
    var settings = ServiceManager.Configuration()
    settings.logger = logger(options)
    return settings
  }

  private static func logger(_ options: EmbeddingOptions) -> Logger {
    let reports = options.reports
    return diagnostics { line in if reports { writeError(line) } }
  }

  private static func request(
    _ options: EmbeddingOptions, _ regions: [BeaconRegion], by beacons: BeaconClient,
    _ events: inout MonitorEvents
  ) throws(BeaconServiceError) {
    _ = try beacons.replaceRegions(with: regions, &events)
    if options.ranges {
      let constraints: [BeaconConstraint?] = regions.isEmpty ? [nil] : regions.map(\.constraint)
      for constraint in constraints {
        try beacons.startRanging(RangingRequest(constraint))
      }
    }
    if !options.isLive, !regions.isEmpty { try beacons.startSightings() }
  }

  private static func request(
    _ options: EmbeddingOptions, by locations: LocationClient, _ events: inout MonitorEvents
  ) throws(LocationServiceError) {
    _ = try locations.replaceCircles(with: options.circles, &events)
    if options.locates || !options.isLive {
      var settings = UpdateSettings()
      settings.pausesAutomatically = false
      try locations.startUpdates(settings)
    }
    if options.showsVisits {
      try locations.startVisits()
    } else {
      locations.stopVisits()
    }
    if options.showsHeadings, options.isLive || locations.service.source?.hasCompass == true {
      try locations.startHeadings()
    }
  }

  var isOver: Bool { feed.isOver }
  package var descriptor: Int32 { feed.descriptor }

  /// Returns the next line of JSON, without its end, or `nil`. The line before counts as delivered.
  package func next() -> [UInt8]? { feed.next() }

  /// Passes every line to a function from now on, on a thread of the library; `nil` ends this.
  package func setConsumer(_ consumer: (@Sendable ([UInt8]) -> Void)?) {
    feed.setConsumer(consumer)
  }

  /// Stops receiving, and waits until no radio scans and everything is stored.
  package func stop() {
    // This comes first, so that no event occurs after the waiting ones were dropped and stored.
    manager.stopAndWait()
    feed.stop()
    client.remove()
    manager.close()
  }

  private static func writeError(_ line: String) {
    let line = Array((line + "\n").utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
