import FoundationEssentials
import HTTPServing
import HTTPTypes
import Records
import Scanning
import ServiceCore

/// The routes of the service. A test compares them with ``OpenAPI``.
struct Routes: HTTPRoutes {
  private static let maximumEvents = 1000
  private static let patience = Duration.seconds(3)
  /// The path of the questions of apps, whose reading always needs the token.
  static let consent = "/api/v1/consent"
  private static let regionPrefix = "/api/v1/regions/"
  private static let questionPrefix = Self.consent + "/"
  private static let nameRule = "a region's name has 1 to 64 characters, and no control characters"

  let hub: KioskHub
  let control: any KioskControl
  let countsOfCore: @Sendable () -> KioskCounts
  let counts: RequestCounts
  /// `nil` if the service has no apps.
  let consent: ConsentForm?

  func endStreams() {
    hub.waiters.close()
    consent?.waiters.close()
  }

  func route(_ request: Request) async throws(HTTPRefusal) -> Response {
    let path = request.path
    let page = Page.files.first { $0.path == path }
    let reader = Self.readers[path]
    let region = path.hasPrefix(Self.regionPrefix) ? path.dropFirst(Self.regionPrefix.count) : "/"
    let isRegion = !region.contains("/")
    let isQuestion = path.hasPrefix(Self.questionPrefix)
    guard page != nil || reader != nil || isRegion || isQuestion else {
      throw HTTPRefusal(.notFound, "there is nothing at this path")
    }
    let methods =
      isQuestion
      ? ["OPTIONS", "PUT"] : ["GET", "HEAD", "OPTIONS"] + (isRegion ? ["PUT", "DELETE"] : [])
    if request.method == .options { return options(request, methods) }
    guard methods.contains(request.method.rawValue) else {
      throw HTTPRefusal(
        .methodNotAllowed, "this path has \(methods.joined(separator: ", "))",
        [.allow: methods.joined(separator: ", ")])
    }
    if let page { return page.response }
    if let reader { return try await reader(self, request) }
    if isQuestion {
      try form.answer(path.dropFirst(Self.questionPrefix.count), request.body)
      return Response(status: .noContent)
    }
    return try await self.region(request, region)
  }

  private typealias Reader =
    @Sendable (Routes, Request) async throws(HTTPRefusal) -> Response

  private static let readers: [String: Reader] = [
    "/metrics": { routes, _ in
      let text = Metrics.text(routes.hub, routes.countsOfCore(), routes.counts)
      return Response(
        status: .ok, headers: [.contentType: MetricsText.type],
        body: .bytes(Array(text.utf8)))
    },
    "/api/v1/openapi.json": { _, _ in .json(Array(OpenAPI.document.utf8)) },
    "/api/v1/beacons": { routes, _ in await routes.beacons() },
    "/api/v1/regions": { routes, _ in .json(routes.hub.regionsJSON) },
    "/api/v1/location": { routes, _ throws(HTTPRefusal) in try await routes.location() },
    "/api/v1/health": { routes, _ in .json(routes.hub.healthJSON) },
    "/api/v1/signal": { routes, _ in
      await routes.hub.withInterest { .json(routes.hub.signalJSON) }
    },
    "/api/v1/history": { routes, request throws(HTTPRefusal) in try routes.history(request) },
    "/api/v1/events": { routes, request throws(HTTPRefusal) in try routes.events(request) },
    Self.consent: { routes, _ throws(HTTPRefusal) in
      let form = try routes.form
      return try routes.counts.stream { try await form.write(to: $0) }
    },
  ]

  /// Returns the response to OPTIONS, with which browsers ask for access from other origins.
  private func options(_ request: Request, _ methods: [String]) -> Response {
    var headers: HTTPFields = [:]
    headers[.allow] = methods.joined(separator: ", ")
    if request.headers[.origin] != nil {
      headers[.accessControlAllowMethods] = "GET, PUT, DELETE"
      headers[.accessControlAllowHeaders] = "Authorization, Content-Type, Last-Event-ID"
    }
    return Response(status: .noContent, headers: headers)
  }

  /// Returns the latest report. Waits up to three seconds for the first if the receiver was off.
  private func beacons() async -> Response {
    await hub.withInterest {
      if hub.health.isReceiving { await hub.wait(Self.patience) { hub.latestReport != nil } }
      return .json(hub.reportJSON)
    }
  }

  /// Returns the location. Waits up to three seconds for a fix if the source was off.
  private func location() async throws(HTTPRefusal) -> Response {
    guard hub.hasLocations else {
      throw HTTPRefusal(
        .notFound,
        "the service has no locations; start it with --source, with a --position, or with a circle")
    }
    return await hub.withInterest {
      await hub.wait(Self.patience) { hub.hasFix }
      return .json(hub.locationJSON ?? [])
    }
  }

  private var form: ConsentForm {
    get throws(HTTPRefusal) {
      guard let consent else {
        throw HTTPRefusal(
          .notFound, "the service has no apps; start it with --apps and --apps-state")
      }
      return consent
    }
  }

  private func events(_ request: Request) throws(HTTPRefusal) -> Response {
    let stream = EventStream(
      hub: hub,
      lastEvent: request.headers[.lastEventID] ?? request.query["lastEventId"])
    return try counts.stream { writer in
      hub.interest.begin()
      defer { hub.interest.end() }
      try await stream.write(to: writer)
    }
  }

  private func history(_ request: Request) throws(HTTPRefusal) -> Response {
    let known = ["after", "limit", "region", "since", "until"]
    if let other = request.query.keys.sorted().first(where: { !known.contains($0) }) {
      throw HTTPRefusal(
        .badRequest,
        "there is no parameter '\(other.prefix(64))'; valid are \(known.joined(separator: ", "))")
    }
    func value<Value>(
      _ key: String, _ what: String, _ read: (String) -> Value?
    ) throws(HTTPRefusal) -> Value? {
      guard let text = request.query[key] else { return nil }
      guard let value = read(text) else {
        throw HTTPRefusal(.badRequest, "\(key): '\(text.prefix(64))' cannot be used; write \(what)")
      }
      return value
    }
    func time(_ key: String) throws(HTTPRefusal) -> WallClockTime? {
      try value(key, "a time such as 2026-01-31T12:00:00Z") { WrittenTime($0)?.time(in: .utc) }
    }
    let limit =
      try value("limit", "a number from 1 to \(Self.maximumEvents)") {
        Int($0).flatMap { (1...Self.maximumEvents).contains($0) ? $0 : nil }
      } ?? 100
    let after = try value("after", "the id of an event") { EntryID($0) }
    if let after, after.generation != hub.journal.generation {
      throw HTTPRefusal(.notFound, "after: the history that has this event no longer exists")
    }
    let region = try value("region", "a name; \(Self.nameRule)") { Self.isName($0) ? $0 : nil }
    let (since, until) = (try time("since"), try time("until"))
    do {
      return .json(
        try hub.historyJSON(
          after: after?.number, since: since, until: until, region: region, limit: limit))
    } catch {
      throw HTTPRefusal(.internalServerError, "\(error)")
    }
  }

  private func region(
    _ request: Request, _ part: Substring
  ) async throws(HTTPRefusal) -> Response {
    guard let name = percentDecoded(String(part)), Self.isName(name) else {
      throw HTTPRefusal(.badRequest, Self.nameRule)
    }
    switch request.method {
    case .put: return try await put(name, request)
    case .delete: return try await remove(name)
    default:
      guard let json = hub.regionJSON(name, control.approach(to: name)) else {
        throw Self.noRegion(name)
      }
      return .json(json)
    }
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.unicodeScalars.count)
      && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  private func put(_ name: String, _ request: Request) async throws(HTTPRefusal) -> Response {
    return try await Self.answer(name) { () throws(RegionRefusal) in
      let isNew = try await control.set(name, RegionRequest(json: request.body, name: name))
      return .json(hub.regionJSON(name) ?? Array("null".utf8), status: isNew ? .created : .ok)
    }
  }

  private func remove(_ name: String) async throws(HTTPRefusal) -> Response {
    try await Self.answer(name) { () throws(RegionRefusal) in
      try await control.remove(name)
      return Response(status: .noContent)
    }
  }

  private static func answer(
    _ name: String, _ body: () async throws(RegionRefusal) -> Response
  ) async throws(HTTPRefusal) -> Response {
    do throws(RegionRefusal) {
      return try await body()
    } catch {
      switch error {
      case .unknown: throw noRegion(name)
      case .conflict(let sentence): throw HTTPRefusal(.conflict, sentence)
      case .invalid(let sentence): throw HTTPRefusal(.unprocessableContent, sentence)
      }
    }
  }

  private static func noRegion(_ name: String) -> HTTPRefusal {
    HTTPRefusal(.notFound, "there is no region '\(name)'")
  }
}
