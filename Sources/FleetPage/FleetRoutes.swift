import Advertising
import FleetPicture
import FleetSites
import Fusion
package import HTTPServing
import HTTPTypes
import Records
import Scanning

/// The routes of the fleet's API and its page.
package struct FleetRoutes: HTTPRoutes {
  /// The paths that need no token: the files of the page, which asks for it, and the health.
  package static var openPaths: Set<String> { Set(Page.files.keys).union(["/health"]) }

  private static let sites = "/api/v1/sites"
  /// The longest time that a request may ask for, in seconds.
  private static let maximumSpan: Int64 = 31 * 86_400
  private static let usualSpan: Int64 = 86_400

  private let hub: FleetHub
  private let counts: RequestCounts

  package init(_ hub: FleetHub, counts: RequestCounts) {
    self.hub = hub
    self.counts = counts
  }

  package func endStreams() { hub.waiters.close() }

  package func route(_ request: Request) async throws(HTTPRefusal) -> Response {
    let methods = "GET, HEAD, OPTIONS"
    switch request.method {
    case .get, .head: break
    case .options:
      var headers: HTTPFields = [.allow: methods]
      if request.headers[.origin] != nil {
        headers[.accessControlAllowMethods] = "GET"
        headers[.accessControlAllowHeaders] = "Authorization, Last-Event-ID"
      }
      return Response(status: .noContent, headers: headers)
    default:
      throw HTTPRefusal(.methodNotAllowed, "this path has \(methods)", [.allow: methods])
    }
    if let file = Page.files[request.path] { return file }
    switch request.path {
    case Self.sites: return sitesAnswer
    case "/api/v1/alarms": return .json(JSON.encode(AlarmsAnswer(alarms: hub.alarms)))
    case "/api/v1/events": return try events(request)
    case "/health": return health
    case "/metrics":
      return Response(
        status: .ok, headers: [.contentType: MetricsText.type],
        body: .bytes(Array(FleetMetrics.text(hub, counts).utf8)))
    default: return try await site(request)
    }
  }

  private func site(_ request: Request) async throws(HTTPRefusal) -> Response {
    let nothing = HTTPRefusal(.notFound, "there is nothing at this path")
    guard request.path.hasPrefix(Self.sites + "/") else { throw nothing }
    let parts = request.path.dropFirst(Self.sites.count + 1)
      .split(separator: "/", omittingEmptySubsequences: false)
      .map { percentDecoded(String($0)) }
    guard let name = parts[0], let site = hub.site(name) else {
      throw HTTPRefusal(.notFound, "there is no site '\((parts[0] ?? "").prefix(64))'")
    }
    switch (parts.count, parts.count > 1 ? parts[1] : nil) {
    case (1, _): return .json(JSON.encode(SiteAnswer(site, engine: hub.engineAlarm)))
    case (2, "occupancy"): return try await occupancy(site, request)
    case (2, "plan"): return try plan(site, request)
    case (3, "beacons"):
      guard let beacon = parts[2].flatMap({ BeaconConstraint($0)?.identity }) else {
        throw HTTPRefusal(.badRequest, "a beacon is UUID:MAJOR:MINOR")
      }
      return try await beaconWay(site, beacon, request)
    default: throw nothing
    }
  }

  private struct SitesAnswer: Encodable {
    var time: String
    var sites: [SiteSummary]
  }

  private var sitesAnswer: Response {
    let sites = hub.sites
    let now = hub.second ?? sites.compactMap(\.second).max() ?? 0
    return .json(
      JSON.encode(SitesAnswer(time: Seconds.text(now), sites: sites.map(SiteSummary.init))))
  }

  private struct AlarmsAnswer: Encodable {
    var alarms: [Alarm]
  }

  private struct HealthAnswer: Encodable {
    var isReceiving: Bool
    var fault: String?
  }

  /// The status is 503 while nothing is received from the engine, for balancers of load.
  private var health: Response {
    let fault = hub.fault
    return .json(
      JSON.encode(HealthAnswer(isReceiving: fault == nil, fault: fault)),
      status: fault == nil ? .ok : .serviceUnavailable)
  }

  private func events(_ request: Request) throws(HTTPRefusal) -> Response {
    let site = request.query["site"]
    if let site, hub.site(site) == nil {
      throw HTTPRefusal(.notFound, "there is no site '\(site.prefix(64))'")
    }
    var last = 0
    if let text = request.query["last"] {
      guard let number = Int(text), 0...1000 ~= number else {
        throw HTTPRefusal(.badRequest, "last: write a number from 0 to 1000")
      }
      last = number
    }
    let events = FleetEvents(
      hub: hub, site: site,
      lastEvent: request.headers[.lastEventID] ?? request.query["lastEventId"], last: last)
    return try counts.stream { try await events.write(to: $0) }
  }

  private struct WayAnswer: Encodable {
    var beacon: String
    var site: String
    var from: String
    var to: String
    /// The time from which changes are known.
    var knownFrom: String?
    /// The time up to which they are, if there are too many in the time that was asked for.
    var knownTo: String?
    /// The beacon in the last picture.
    var now: SiteAnswer.Beacon?
    var stays: [Stay]
  }

  private func beaconWay(
    _ site: SiteState, _ beacon: BeaconIdentity, _ request: Request
  ) async throws(HTTPRefusal) -> Response {
    let (from, to) = try span(request, site)
    let now = site.beacons["\(beacon)"]
    let known = try await moves(site, of: beacon, from: from, to: to)
    guard now != nil || !known.moves.isEmpty else {
      throw HTTPRefusal(.notFound, "nothing is known of this beacon in the time")
    }
    let stays = Stay.stays(
      known.moves.map { $0.clamped(to: from) }, now: now.flatMap { $0.since(before: to) })
    return .json(
      JSON.encode(
        WayAnswer(
          beacon: "\(beacon)", site: site.name, from: Seconds.text(from), to: Seconds.text(to),
          knownFrom: known.knownFrom.map(Seconds.text),
          knownTo: known.knownTo < to ? Seconds.text(known.knownTo) : nil,
          now: now.map { .init($0, site.file) },
          stays: stays)))
  }

  private func occupancy(
    _ site: SiteState, _ request: Request
  ) async throws(HTTPRefusal) -> Response {
    let (from, to) = try span(request, site)
    let known = try await moves(site, from: from, to: to)
    var rooms = known.moves.map {
      RoomMove($0.beacon, from: $0.former.room, to: $0.place.room, at: $0.second)
    }
    // A beacon that has not moved may have been in its room for all of the time.
    let moved = Set(known.moves.map(\.beacon))
    for (name, beacon) in site.beacons {
      guard let identity = BeaconConstraint(name)?.identity, !moved.contains(identity),
        let since = beacon.since(before: to)?.since, since <= from
      else { continue }
      rooms.append(RoomMove(identity, from: beacon.room, to: beacon.room, at: from))
    }
    return .json(JSON.encode(OccupancyAnswer(rooms, known, from: from, to: to)))
  }

  private func moves(
    _ site: SiteState, of beacon: BeaconIdentity? = nil, from: Int64, to: Int64
  ) async throws(HTTPRefusal) -> FleetHub.Moves {
    do {
      return try await hub.moves(in: site, of: beacon, from: from, to: to)
    } catch {
      throw HTTPRefusal(.serviceUnavailable, "the history cannot be read: \(error)")
    }
  }

  /// Reads the time that a request asks for: by default the last day.
  private func span(
    _ request: Request, _ site: SiteState
  ) throws(HTTPRefusal) -> (from: Int64, to: Int64) {
    func time(_ key: String) throws(HTTPRefusal) -> Int64? {
      guard let text = request.query[key] else { return nil }
      guard let second = Seconds.read(text) else {
        throw HTTPRefusal(
          .badRequest,
          "\(key): '\(text.prefix(64))' cannot be used; write a time such as 2026-01-31T12:00:00Z")
      }
      return second
    }
    let now = hub.second ?? site.second ?? 0
    let to = try time("to") ?? now + 1
    let from = try time("from") ?? to - Self.usualSpan
    guard from < to, to - from <= Self.maximumSpan else {
      throw HTTPRefusal(.badRequest, "from must be before to, and at most 31 days")
    }
    return (from, min(to, now + 1))
  }

  private func plan(_ site: SiteState, _ request: Request) throws(HTTPRefusal) -> Response {
    let floor = request.query["floor"].map { Int($0) } ?? site.file?.plans.first?.floor
    guard let plan = site.file?.plans.first(where: { $0.floor == floor }) else {
      throw HTTPRefusal(.notFound, "the site has no picture of this floor")
    }
    let name = plan.image.lowercased()
    let type =
      name.hasSuffix(".svg") ? "image/svg+xml" : name.hasSuffix(".png") ? "image/png" : "image/jpeg"
    do {
      return Response(
        status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
        body: .bytes(try hub.plan(site.name, plan)))
    } catch {
      throw HTTPRefusal(.internalServerError, "the picture cannot be read: \(error)")
    }
  }
}

extension SitePicture.Beacon {
  /// The place and the second since which the beacon is there, or `nil` if that is later.
  fileprivate func since(before end: Int64) -> (place: Whereabouts, since: Int64)? {
    guard let since = Seconds.read(since), since < end else { return nil }
    return (Whereabouts(room: room, isOutside: isOutside), since)
  }
}
