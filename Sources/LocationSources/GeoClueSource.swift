package import DBusMessages
package import Positioning
package import Scanning

/// A location source that uses GeoClue 2 over D-Bus.
///
/// If a coarse accuracy level finds nothing, the exact one is requested until the source rests. A
/// refused client restarts when an agent or the demand changes, else rarely. GeoClue's state for
/// this process ends with the connection.
package typealias GeoClueSource = LiveSource<GeoClueSession>

extension GeoClueSource {
  /// Creates a source for an application, identified by its desktop file's name without the suffix.
  package convenience init(
    desktopIdentifier: String = "beaconscan", bus: BusAddress = .system
  ) {
    self.init("GeoClue", GeoClueSession(desktopIdentifier: desktopIdentifier, on: bus)) {
      GeoClueSession.daemon.availability(on: bus, isPresent: GeoClueSession.isPresent)
    }
  }
}

enum GeoClueName {
  static let service = "org.freedesktop.GeoClue2"
  static let manager = "org.freedesktop.GeoClue2.Manager"
  static let client = "org.freedesktop.GeoClue2.Client"
  static let location = "org.freedesktop.GeoClue2.Location"
  static let agent = "org.freedesktop.GeoClue2.Agent"
  static let managerPath = "/org/freedesktop/GeoClue2/Manager"
}

package struct GeoClueSession: ~Copyable, LocationSession {
  package static var reportsOnlyChanges: Bool { true }

  package var report = LocationReport()

  private let desktopIdentifier: String
  private var client: BusClient<Subject>
  /// The path of the client in GeoClue; `nil` while there is none or its creation is pending.
  private var path: String?
  private var isRunning = false
  private var applied: Settings?
  private var retry: MonotonicTime?
  private var refusals = Backoff.slow
  /// The minimum wait to restart after an agent's change, a signal that any process can send.
  private var agentWait: Int64 = 0
  private var agentWaits = Backoff(first: 250_000_000, longest: 60_000_000_000)
  private var hasAgentChanged = false
  /// The number of requests for one fix that were passed on.
  private var requests: UInt64 = 0
  private var started: MonotonicTime?
  private var isLocated = false
  /// Whether the exact level is requested, because a coarser one had no location.
  private var isRaised = false

  private enum Subject {
    case client, setting, start, location, present
    /// A check that GeoClue answers.
    case life
  }

  /// A demand for GeoClue: the level, and the minimum meters and seconds between locations.
  struct Settings: Equatable {
    var level: UInt32
    var distance: UInt32
    var time: UInt32

    init(_ fixes: LocationDemand.Fixes) {
      level = GeoClueSession.level(for: fixes.accuracy)
      distance = UInt32(max(0, min(fixes.distance, 1e9)))
      // A fix that is slightly early is delivered.
      time = UInt32(max(0, min(fixes.interval * 0.9, 1e9)))
    }
  }

  static let limits: BusLimits = {
    var limits = BusLimits()
    limits.messageBytes = 1 << 16
    limits.decodedBytes = 1 << 20
    limits.messages = 256
    return limits
  }()
  private static let answerLimit = 4 * MonotonicTime.nanosecondsPerSecond
  /// The time without a location after which that is reported.
  private static let searchTime = 10 * MonotonicTime.nanosecondsPerSecond
  /// The smallest credible accuracy, in meters: GeoClue's are 0 for an HDOP up to 1, and 1 up to 2.
  package static let smallestAccuracy = 5.0

  init(desktopIdentifier: String, on address: BusAddress) {
    self.desktopIdentifier = desktopIdentifier
    client = BusClient(of: GeoClueName.service, on: address, limits: Self.limits)
  }

  private static let exact: UInt32 = 8

  /// Returns GeoClue's level for an accuracy in meters: 8 (exact, by satellites), 6 (street, by
  /// networks), 5 (neighborhood) or 4 (city, by the internet address).
  package static func level(for accuracy: Double) -> UInt32 {
    switch accuracy {
    case ..<100: exact
    case ..<1000: 6
    case ..<3000: 5
    default: 4
    }
  }

  static func isPresent(on bus: BusConnection, _ limit: Int64) throws(BusError) -> Bool {
    if try bus.owner(of: GeoClueName.service, timeout: limit) != nil { return true }
    let names = try bus.call(.toBus("ListActivatableNames"), timeout: limit)
    return names.first?.asArray?.contains { $0.asString == GeoClueName.service } ?? false
  }

  static let daemon = SystemDaemon(
    name: "GeoClue", unit: "geoclue", subject: .locations,
    absence: "GeoClue is not installed; install it: sudo apt install geoclue-2.0, or configure a "
      + "fixed position"
  ) { reason in
    "the system's bus does not permit GeoClue (\(reason))"
  }

  package mutating func rest() {
    client.disconnect()
    client.succeed()
    forget()
    refusals.reset()
    agentWaits.reset()
    report.reset()
  }

  // MARK: The connection

  package mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput]
  ) {
    defer { wakeSignal.reset() }
    guard let fixes = demand.fixes else {
      rest()
      return wakeSignal.wait(nanoseconds: end.nanoseconds(since: MonotonicTime.now))
    }
    let start = MonotonicTime.now
    do throws(BusError) {
      // A new client replaces one that was refused.
      if let retry, start >= retry {
        client.disconnect()
        forget()
      }
      try connect(at: start)
      try configure(for: fixes, at: start)
      let messages = try client.receive(until: min(end, retry ?? end), wakeSignal: wakeSignal)
      let now = MonotonicTime.now
      for message in messages { try handle(message, at: now, into: &inputs) }
      try configure(for: fixes, at: now)
      try checkAnswers(at: now)
    } catch {
      fail(error, at: MonotonicTime.now)
    }
  }

  private mutating func connect(at now: MonotonicTime) throws(BusError) {
    let rules: [BusMatch] = [
      BusMatch(
        sender: GeoClueName.service, interface: GeoClueName.client, member: "LocationUpdated"),
      BusMatch(
        sender: GeoClueName.service, interface: Bus.properties, member: "PropertiesChanged",
        arg0: GeoClueName.client),
      // A change of an agent's permission.
      BusMatch(
        interface: Bus.properties, member: "PropertiesChanged", arg0: GeoClueName.agent),
    ]
    guard try client.connect(at: now, matching: rules) else { return }
    // The bus starts GeoClue for this call if necessary.
    try call(
      "CreateClient", of: GeoClueName.manager, at: GeoClueName.managerPath, subject: .client,
      at: now)
  }

  private mutating func call(
    _ member: String, of interface: String = Bus.properties, at path: String,
    _ values: BusValue..., subject: Subject, at now: MonotonicTime
  ) throws(BusError) {
    try client.ask(
      BusMessage(call: member, of: interface, at: path, to: GeoClueName.service, body: values),
      subject, at: now)
  }

  private mutating func fail(_ error: BusError, at now: MonotonicTime) {
    report.report(Self.daemon.health(error))
    client.fail(at: now)
    forget()
  }

  private mutating func forget() {
    path = nil
    applied = nil
    started = nil
    retry = nil
    isRunning = false
    isLocated = false
    isRaised = false
  }

  // MARK: The client

  private mutating func configure(
    for fixes: LocationDemand.Fixes, at now: MonotonicTime
  ) throws(BusError) {
    guard let path else { return }
    var settings = Settings(fixes)
    if isRaised { settings.level = Self.exact }
    if requests != fixes.requests, applied != nil {
      requests = fixes.requests
      if retry != nil {
        retry = now
      } else if isRunning {
        // GeoClue reports only changes, so this requests the current location.
        try call(
          "Get", at: path, .string(GeoClueName.client), .string("Location"), subject: .present,
          at: now)
      }
    }
    let isNew = applied == nil
    guard applied != settings else { return }
    guard retry == nil else { return retry = now }
    requests = fixes.requests
    if isNew { try set("DesktopId", .string(desktopIdentifier), at: path, now) }
    if applied?.level != settings.level, !isNew {
      // A new level takes effect with the next start.
      try call("Stop", of: GeoClueName.client, at: path, subject: .setting, at: now)
    }
    try set("RequestedAccuracyLevel", .uint32(settings.level), at: path, now)
    try set("DistanceThreshold", .uint32(settings.distance), at: path, now)
    try set("TimeThreshold", .uint32(settings.time), at: path, now)
    if applied?.level != settings.level {
      try call("Start", of: GeoClueName.client, at: path, subject: .start, at: now)
      isRunning = false
      started = now
    }
    applied = settings
  }

  private mutating func set(
    _ name: String, _ value: BusValue, at path: String, _ now: MonotonicTime
  ) throws(BusError) {
    try call(
      "Set", at: path, .string(GeoClueName.client), .string(name), .variant(value),
      subject: .setting, at: now)
  }

  private mutating func checkAnswers(at now: MonotonicTime) throws(BusError) {
    var isWaiting = false
    for call in client.calls.values where now.nanoseconds(since: call.sent) >= Self.answerLimit {
      switch call.subject {
      case .client, .start:
        // GeoClue answers these only once this user has an agent, so check that it is alive.
        isWaiting = true
      case .setting, .location, .present, .life: throw .timedOut(member: "GeoClue")
      }
    }
    if isWaiting, !client.awaits({ $0 == .life }), report.latest?.condition != .notPermitted {
      try client.ask(.ping(GeoClueName.service, startsService: true), .life, at: now)
    }
    guard isRunning, !isLocated, let started,
      now.nanoseconds(since: started) >= Self.searchTime
    else { return }
    if applied?.level == Self.exact {
      search()
    } else {
      // A machine may have a receiver and no networks in view. `configure` restarts the client.
      isRaised = true
    }
  }

  private mutating func search() {
    report.report(
      .searching,
      "GeoClue has no location yet; it needs a receiver, Wi-Fi networks in view or the internet")
  }

  // MARK: Messages

  private mutating func handle(
    _ message: BusMessage, at now: MonotonicTime, into inputs: inout [PositionInput]
  ) throws(BusError) {
    switch client.event(of: message) {
    case .owner:
      guard path != nil else { return }
      // GeoClue ended, and this client with it. The next call starts it again.
      report.report(.notRunning, "GeoClue ended; it is started again")
      client.fail(at: now)
      forget()
    case .answer(let subject): try answered(subject, by: message, at: now, into: &inputs)
    case .service where message.path == path:
      if message.isSignal("LocationUpdated", of: GeoClueName.client) {
        guard message.body.count == 2 else { return }
        try requestLocation(message.body[1], at: now)
      } else if message.isSignal("PropertiesChanged", of: Bus.properties),
        message.body.count >= 2,
        let isActive = message.body[1].asProperties?["Active"]?.asBool, !isActive, isRunning
      {
        // The agent stopped the client. A start is answered when it permits it again, or refuses.
        deny("its agent stopped it", at: now)
        isRunning = false
        // Replies to earlier requests do not prove a permission.
        client.calls = client.calls.filter { ![.location, .present].contains($0.value.subject) }
      }
    case .service, .other:
      guard message.isSignal("PropertiesChanged", of: Bus.properties),
        message.body.first?.asString == GeoClueName.agent
      else { return }
      if let due = retry { retry = min(due, (started ?? now).advanced(by: agentWait)) }
      hasAgentChanged = client.awaits { $0 == .start }
    case nil: break
    }
  }

  private mutating func answered(
    _ subject: Subject, by message: BusMessage, at now: MonotonicTime,
    into inputs: inout [PositionInput]
  ) throws(BusError) {
    switch subject {
    case .client:
      if let error = message.error { throw error }
      guard let path = message.body.first?.asString else { throw .invalid(reason: "no client") }
      self.path = path
    case .setting:
      if let error = message.error { throw error }
    case .life:
      guard client.awaits({ $0 == .client || $0 == .start }) else { return }
      report.report(
        .notPermitted,
        "GeoClue waits for an agent of this user, which permits locations; start one: "
          + "/usr/libexec/geoclue-2.0/demos/agent")
    case .start:
      guard path != nil else { return }
      switch message.error {
      case .notPermitted(let reason):
        deny(reason, at: now)
      case let error?: throw error
      case nil:
        isRunning = true
        started = now
        isLocated = false
        client.succeed()
        refusals.reset()
        if hasAgentChanged {
          // The agent may have stopped the client before it ran, without a message.
          hasAgentChanged = false
          retry = now.advanced(by: agentWait)
        }
        // The first fix is reported separately; until then, an earlier fault has ended.
        if let condition = report.latest?.condition, condition.isFault { search() }
      }
    case .present:
      guard message.kind == .reply, let path = message.body.first else { return }
      try requestLocation(path, at: now)
    case .location:
      // A location that was replaced in the meantime no longer exists.
      guard message.kind == .reply, let values = message.body.first?.asProperties,
        var fix = Self.fix(values, at: now)
      else { return }
      report.report(.receiving, "GeoClue delivers locations")
      agentWaits.reset()
      // If the agent had stopped the client, it has started it again.
      retry = nil
      // Later locations are new, whatever the receiver's clock says.
      if isLocated { fix.time = now }
      isLocated = true
      inputs.append(.fix(fix))
    }
  }

  /// Reports a refusal, and determines when the client restarts.
  private mutating func deny(_ reason: String, at now: MonotonicTime) {
    agentWait = agentWaits.next()
    retry = now.advanced(by: hasAgentChanged ? agentWait : refusals.next())
    hasAgentChanged = false
    report.report(
      .denied,
      "GeoClue does not give \(desktopIdentifier) the location (\(reason)); permit it in the system's "
        + "privacy settings or in /etc/geoclue/geoclue.conf")
  }

  private mutating func requestLocation(
    _ path: BusValue, at now: MonotonicTime
  ) throws(BusError) {
    guard let path = path.asString, path != "/" else { return }
    try call("GetAll", at: path, .string(GeoClueName.location), subject: .location, at: now)
  }

  static func fix(
    _ values: [String: BusValue], at now: MonotonicTime, wallClock: WallClockTime = .now
  ) -> Fix? {
    guard let latitude = values["Latitude"]?.asDouble,
      let longitude = values["Longitude"]?.asDouble,
      let place = Coordinate(latitude: latitude, longitude: longitude)
    else { return nil }
    let accuracy =
      (values["Accuracy"]?.asDouble ?? 0).within(FieldRange.error)
      .map { max($0, smallestAccuracy) } ?? Dilution.unknownAccuracy
    var timestamp = wallClock
    if let time = values["Timestamp"]?.asArray, time.count == 2, let seconds = time[0].asInt,
      let microseconds = time[1].asInt, (1..<7_258_118_400).contains(seconds),
      (0..<1_000_000).contains(microseconds)
    {
      timestamp = WallClockTime(
        nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(microseconds) * 1000)
    }
    // A location that GeoClue cached is as old as its timestamp says.
    let age = max(0, wallClock.nanoseconds(since: timestamp))
    var fix = Fix(
      time: now.advanced(by: -age), timestamp: timestamp, place: place,
      horizontalAccuracy: accuracy)
    // An unknown altitude is the lowest number of a `Double`.
    fix.altitude = values["Altitude"]?.asDouble?.within(FieldRange.altitude)
    fix.speed = values["Speed"]?.asDouble?.within(FieldRange.speed)
    fix.course = values["Heading"]?.asDouble.flatMap { $0 >= 0 ? bearing($0) : nil }
    return fix
  }
}
