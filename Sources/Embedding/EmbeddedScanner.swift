import Frontends
import Glibc
import Positioning
import Ranging
import Regions
import Scanning
import ServiceCore

/// A scanner in a program of another language. It delivers its events as lines of JSON.
package final class EmbeddedScanner: Sendable {
  private let manager: ServiceManager
  private let client: ServiceClient
  private let feed: EventFeed

  static let forbidden =
    "the administrator does not allow this program to receive; see \(SystemAuthorization.path)"

  /// Starts to receive. A live scanner that cannot receive yet reports it in a `health` record.
  package convenience init(_ options: EmbeddingOptions) throws(EmbeddingError) {
    do {
      try options.check()
      try self.init(options, options.open())
    } catch {
      throw EmbeddingError(error)
    }
  }

  /// Starts to receive from sources. At most `limit` events wait.
  init(
    _ options: EmbeddingOptions, _ sources: EmbeddedSources, limit: Int = EventFeed.limit
  ) throws {
    let regions = try options.rules.apply(to: options.regions)
    let configuration = try options.configuration
    for availability in [sources.scanner?.availability, sources.locations?.availability] {
      if case .notPermitted(let sentence)? = availability { throw EmbeddingError(sentence) }
    }
    var events = MonitorEvents(rules: configuration.rules)
    guard let feed = EventFeed(options, events: events, limit: limit) else {
      throw EmbeddingError(
        "the process has no file descriptors left; close some, or raise its limit")
    }
    let authorization = AuthorizationOnStart()
    var settings = ServiceManager.Configuration()
    if let application = options.application { settings.applicationIdentifier = application }
    settings.persistence = options.stateFile.map { .file($0) } ?? .none
    settings.authorization = authorization
    let reports = options.reports
    settings.logger = diagnostics { line in if reports { Self.writeError(line) } }
    let manager = ServiceManager(settings)
    if let failure = manager.storageFailure { throw EmbeddingError(failure) }
    let beacons = sources.scanner.map {
      BeaconService(manager, scanner: $0, configuration: configuration)
    }
    let locations = sources.locations.map { LocationService(manager, source: $0) }
    self.manager = manager
    self.feed = feed
    client = manager.addClient(isReceiving: false) { feed.receive($0) }
    do {
      if let beacons {
        try Self.request(options, regions, by: BeaconClient(client, of: beacons), &events)
      }
      if let locations {
        try Self.request(options, by: LocationClient(client, of: locations), &events)
      }
      feed.begin(
        EventFeed.Services(
          client: client, beacons: beacons, locations: locations, tracks: sources.tracks), events)
    } catch {
      client.remove()
      throw EmbeddingError(error)
    }
    client.setReceiving(true)
    authorization.start()
    manager.requestAuthorization(.authorizedAlways)
    guard manager.authorizationStatus.isAuthorized else {
      stop()
      throw EmbeddingError(Self.forbidden)
    }
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
