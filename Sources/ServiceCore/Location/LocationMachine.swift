import Positioning
import Scanning

/// The location service's state machine: what clients requested and registered, and the machines that serve them.
struct LocationMachine: Service {
  typealias Source = LocationServiceSource
  typealias Event = LocationEvent

  /// What a group registered.
  enum Registration: Codable, Sendable {
    case circle(MonitoredCircle)
    case visits
    case significantChanges
  }

  /// The state of a registration, as it outlives the process.
  enum RegistrationState: Codable, Sendable {
    case circle(GeofenceState, since: WallClockTime)
    /// The offset is that of the line of the detector's times.
    case visits(VisitDetector, WallClockOffset)
    case significantChanges(SignificantChange, WallClockOffset)
  }

  static let name = "location"

  /// The updates of a client.
  struct Updates {
    var settings: UpdateSettings
    var filter: DistanceFilter
    var pause: PauseRule

    /// Whether updates run that may pause.
    var mayPause: Bool { settings.pausesAutomatically && !pause.isPaused }
  }

  /// What a client needs beyond the registrations of its group.
  struct Needs {
    var updates: Updates?
    var deferral = DeferredUpdates(DeferredUpdates.Conditions(isUpdating: false))
    var request: FixRequest?
    var heading: HeadingFilter?
    /// When the latest fix came that the client received.
    var received: MonotonicTime?

    var requests: [LocationRequest] {
      var requests: [LocationRequest] = []
      if let updates {
        requests.append(
          updates.pause.isPaused
            ? .paused
            : .standard(
              updates.settings.accuracy, distanceFilter: updates.settings.distanceFilter,
              interval: updates.settings.interval))
      }
      if let request { requests.append(.standard(request.accuracy, distanceFilter: nil)) }
      if heading != nil { requests.append(.heading) }
      return requests
    }
  }

  /// What a group registered beside circles, each with its state.
  private struct Registered {
    var visits: VisitDetector?
    var changes: Changes?
  }

  /// The significant changes of a group.
  private struct Changes {
    var rule = SignificantChange()
    /// The clients that started them in this process.
    var started: Set<ClientIdentifier> = []
    /// Those of them that have not received a first fix.
    var waiting: Set<ClientIdentifier> = []
  }

  let isRecorded: Bool
  private(set) var needs: [ClientIdentifier: Needs] = [:]
  private var groups: [ClientGroup: Registered] = [:]
  var circles = LocationCircles()
  /// The number of requests for one fix.
  private var fixRequests: UInt64 = 0
  /// The latest time of the source.
  private var now: MonotonicTime?
  /// The latest fix of all; `nil` if there was none.
  private var newestFix: Fix?
  private var headings: [ClientIdentifier: Heading] = [:]
  private(set) var health: LocationHealth?
  /// Whether the source has rested since it reported ``health``.
  private var isHealthOld = false
  /// Whether the source delivers a fix only when the place has changed.
  private var reportsOnlyChanges = false
  /// When the receiver was last known to be at ``newestFix``; `nil` once the source has rested or lost the place.
  private var lastSeen: MonotonicTime?
  private var hasReportedExpiry = false
  /// The latest state of the compass.
  private var headingHealth: LocationHealth?
  /// Whether GeoClue's latest answer was that this application may not have the location. While no client needs locations it is
  /// not asked again, and the answer holds.
  private(set) var isRefusedBySource = false
  private(set) var wallClockOffset = WallClockOffset.zero
  private var hasOffset = false
  private var status = AuthorizationStatus.notDetermined
  private var hasEnded = false

  init(isRecorded: Bool) { self.isRecorded = isRecorded }

  // MARK: The source

  var demand: LocationServiceSource.Demand? {
    mutating get {
      guard status.isAuthorized, !hasEnded else { return nil }
      var requests = needs.values.flatMap(\.requests)
      for group in groups.values {
        if let visits = group.visits { requests.append(.visits(isStaying: visits.isStaying)) }
        if group.changes != nil { requests.append(.significantChange) }
      }
      if let request = circles.request(accuracy: newestFix?.horizontalAccuracy) {
        requests.append(request)
      }
      guard !requests.isEmpty else { return nil }
      var demand = LocationDemand(requests)
      demand.fixes?.requests = fixRequests
      return LocationServiceSource.Demand(location: demand, deadline: deadline)
    }
  }

  private var deadline: MonotonicTime? {
    var deadlines = [circles.deadline, restDeadline]
    for group in groups.values {
      deadlines.append(group.visits?.deadline)
      deadlines.append(group.changes?.rule.deadline)
    }
    for needs in needs.values {
      deadlines.append(needs.request?.deadline)
      deadlines.append(needs.deferral.deadline)
    }
    return deadlines.compactMap { $0 }.min()
  }

  mutating func process(
    _ input: inout LocationServiceSource.Input, into output: inout ServiceOutput<Self>
  ) -> Bool {
    // Before a recording's first value, its offset is not known.
    if let reached = input.progress.reached {
      setOffset(input.progress.wallClockOffset, at: reached)
    }
    reportsOnlyChanges = input.reportsOnlyChanges
    while true {
      let next = input.processed < input.values.count ? input.values[input.processed] : nil
      if let change = input.progress.health.first, next.map({ change.time <= $0.time }) ?? true {
        input.progress.health.removeFirst()
        update(change, into: &output)
      } else if let next {
        input.processed += 1
        receive(next, into: &output)
      } else {
        break
      }
      // In a recording, clients may change what they need before it goes on.
      if isRecorded, !output.items.isEmpty { return false }
    }
    if let reached = input.progress.reached { advance(to: reached, into: &output) }
    return true
  }

  private mutating func update(
    _ change: LocationHealth, into output: inout ServiceOutput<Self>
  ) {
    let latest = change.subject == .locations ? health : headingHealth
    // After a rest a source reports its state again.
    let isNew = latest?.condition != change.condition || latest?.sentence != change.sentence
    if isNew {
      output.deliverToAll(.health(change, at: change.time.wallClockTime(wallClockOffset)))
    }
    guard change.subject == .locations else { return headingHealth = change }
    if isNew { health = change }
    isHealthOld = false
    if change.condition == .denied {
      isRefusedBySource = true
    } else if !change.condition.isFault {
      isRefusedBySource = false
    }
    if change.condition != .receiving { lastSeen = nil }
    guard change.condition.isFault else { return }
    circles.endRequests(into: &output)
    guard change.refusesLocations else { return }
    for client in clients where needs[client]?.request != nil {
      needs[client]?.request = nil
      output.deliver(.requestFailed(change), to: client)
    }
  }

  /// What was restored is in wall-clock time until the source's time is known.
  private mutating func setOffset(_ offset: WallClockOffset, at now: MonotonicTime) {
    defer { (wallClockOffset, hasOffset) = (offset, true) }
    guard !hasOffset else { return }
    for group in groups.keys {
      groups[group]?.visits?.move(by: 0 &- offset.nanoseconds)
      groups[group]?.changes?.rule.move(by: 0 &- offset.nanoseconds)
      // Where the clock was set back since, or is not set yet, what was stored cannot be of later than now: everything
      // would wait for that time.
      if let latest = groups[group]?.visits?.latestTime, latest > now {
        groups[group]?.visits?.move(by: now.nanoseconds(since: latest))
      }
      if let latest = groups[group]?.changes?.rule.latestTime, latest > now {
        groups[group]?.changes?.rule.move(by: now.nanoseconds(since: latest))
      }
    }
  }

  mutating func rest() { (isHealthOld, lastSeen) = (true, nil) }

  mutating func end(
    _ sentence: String, isFailure: Bool, into output: inout ServiceOutput<Self>
  ) {
    hasEnded = true
    circles.endRequests(into: &output)
    for client in clients {
      if let request = needs[client]?.request {
        needs[client]?.request = nil
        deliver(request.end, to: client, into: &output)
      }
      setDeferralConditions(of: client, into: &output)
    }
    output.deliverToAll(.ended(sentence, isFailure: isFailure))
  }

  mutating func setAuthorization(
    _ status: AuthorizationStatus, into output: inout ServiceOutput<Self>
  ) {
    let previous = self.status
    self.status = status
    for client in clients { setDeferralConditions(of: client, into: &output) }
    guard !status.isAuthorized else { return }
    circles.endRequests(into: &output)
    // What was started before the answer is refused as well.
    if previous.isAuthorized || isRefused && status != previous {
      output.deliverToAll(.refused(status))
    }
  }

  /// The clients, in the order of their events.
  private var clients: [ClientIdentifier] { needs.keys.sorted { $0.rawValue < $1.rawValue } }

  /// What a client and its group use.
  func use(of client: ClientIdentifier, in group: ClientGroup) -> LocationUse {
    let needs = needs[client]
    return LocationUse(
      updates: needs?.updates?.settings, isRequesting: needs?.request != nil,
      headings: needs?.heading != nil, visits: groups[group]?.visits != nil,
      significantChanges: groups[group]?.changes != nil)
  }

  func reportHealth(to client: ClientIdentifier, into output: inout ServiceOutput<Self>) {
    guard let health else { return }
    output.deliver(.health(health, at: health.time.wallClockTime(wallClockOffset)), to: client)
  }

  /// Whether the application is refused.
  var isRefused: Bool { status == .denied || status == .restricted }

  mutating func remove(_ client: ClientIdentifier) {
    needs[client] = nil
    headings[client] = nil
    circles.remove(client)
    for group in groups.keys {
      groups[group]?.changes?.started.remove(client)
      groups[group]?.changes?.waiting.remove(client)
    }
  }

  /// The latest fix, as far as the application may have it.
  var latestFix: Fix? { status.isAuthorized ? newestFix : nil }

  /// Returns a client's latest heading, as far as the application may have it.
  func latestHeading(of client: ClientIdentifier) -> Heading? {
    status.isAuthorized ? headings[client] : nil
  }

  // MARK: Fixes and readings

  private mutating func receive(
    _ input: PositionInput, into output: inout ServiceOutput<Self>
  ) {
    switch input {
    case .fix(let fix): receive(fix, into: &output)
    case .compass(let reading): receive(reading, into: &output)
    }
  }

  private mutating func receive(_ fix: Fix, into output: inout ServiceOutput<Self>) {
    advance(to: fix.time, into: &output)
    (newestFix, lastSeen) = (fix, fix.time)
    // A source that refuses the application delivers none.
    isRefusedBySource = false
    circles.receive(fix, wallClockOffset, into: &output)
    receiveInGroups(fix, into: &output)
    for client in clients { deliver(fix, to: client, into: &output) }
  }

  private mutating func receiveInGroups(_ fix: Fix, into output: inout ServiceOutput<Self>) {
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      for change in groups[group]?.visits?.receive(fix) ?? [] {
        deliver(change, in: group, into: &output)
      }
      let waiting = groups[group]?.changes?.waiting ?? []
      groups[group]?.changes?.waiting = []
      if let change = groups[group]?.changes?.rule.receive(fix) {
        deliver(change, in: group, into: &output)
      } else {
        for client in waiting.sorted(by: { $0.rawValue < $1.rawValue }) {
          output.deliver(.significantChange(fix), to: client)
        }
      }
    }
  }

  /// Delivers a fix to a client's updates and to its request, as far as they want it. Where updates deliver it, it is
  /// the answer of the request as well.
  private mutating func deliver(
    _ fix: Fix, to client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    guard var needs = needs[client] else { return }
    let answer = needs.request?.receive(fix)
    if answer != nil { needs.request = nil }
    var delivered: Fix?
    if let updates = needs.updates {
      let wasPaused = updates.pause.isPaused
      let change = updates.settings.pausesAutomatically ? needs.updates?.pause.receive(fix) : nil
      if change == .resumed { output.deliver(.resumed, to: client) }
      // The fix that pauses or resumes updates is delivered.
      if !wasPaused || change == .resumed, needs.updates?.filter.receive(fix) == true {
        let events = needs.deferral.receive(fix)
        let isDelivered = events.contains {
          if case .deliver(let fixes) = $0 { fixes.last == fix } else { false }
        }
        if isDelivered { (delivered, needs.received) = (fix, fix.time) }
        deliver(events, to: client, into: &output)
      }
      self.needs[client] = needs
      if change == .paused { deliverPause(to: client, into: &output) }
    } else {
      self.needs[client] = needs
    }
    if let answer, answer != delivered.map({ .fix($0) }) {
      deliver(answer, to: client, into: &output)
    }
  }

  /// Reports that updates are paused, after the end of a deferral.
  private mutating func deliverPause(
    to client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    setDeferralConditions(of: client, into: &output)
    output.deliver(.paused, to: client)
  }

  // MARK: Rest without fixes

  /// The time from one look at a receiver that rests to the next, in seconds.
  private static let restInterval = 60.0

  /// When the receiver is taken to be at the latest fix still; `nil` where the source delivers fixes in any case, or
  /// may have lost the place, or where nothing depends on it.
  private var restDeadline: MonotonicTime? {
    guard reportsOnlyChanges, let lastSeen,
      groups.values.contains(where: { $0.visits != nil })
        || needs.values.contains(where: { $0.updates.map(\.mayPause) ?? false })
    else { return nil }
    return lastSeen.advanced(bySeconds: Self.restInterval)
  }

  /// Takes the latest fix for one of now, for visits and pauses, where a source that delivers fixes only when the place
  /// has changed is silent.
  private mutating func advanceRest(
    to now: MonotonicTime, into output: inout ServiceOutput<Self>
  ) {
    guard let restDeadline, now >= restDeadline, var fix = newestFix else { return }
    (fix.time, lastSeen) = (now, now)
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      for change in groups[group]?.visits?.receive(fix) ?? [] {
        deliver(change, in: group, into: &output)
      }
    }
    for client in clients
    where needs[client]?.updates?.mayPause == true
      && needs[client]?.updates?.pause.receive(fix) == .paused
    {
      deliverPause(to: client, into: &output)
    }
  }

  private mutating func receive(
    _ reading: CompassReading, into output: inout ServiceOutput<Self>
  ) {
    advance(to: reading.time, into: &output)
    // True headings only while locations are updated too.
    let north = north(at: reading, into: &output)
    for client in clients {
      guard let heading = needs[client]?.heading?.receive(reading, north: north) else { continue }
      headings[client] = heading
      output.deliver(.heading(heading), to: client)
    }
  }

  /// Returns the direction of magnetic north; `nil` unless locations are updated too. That the magnetic model is not
  /// made for the time is reported once: its declinations are used all the same.
  private mutating func north(
    at reading: CompassReading, into output: inout ServiceOutput<Self>
  ) -> NorthDifference? {
    guard let fix = newestFix, needs.values.contains(where: { $0.updates != nil }) else {
      return nil
    }
    let field = MagneticModel.field(
      at: fix.place, height: fix.ellipsoidalAltitude ?? fix.altitude ?? 0, time: reading.timestamp)
    if field.isExpired, !hasReportedExpiry {
      hasReportedExpiry = true
      let health = LocationHealth(
        .receiving, of: .headings, at: reading.time, sentence: MagneticModel.expiry)
      output.deliverToAll(.health(health, at: reading.time.wallClockTime(wallClockOffset)))
    }
    return NorthDifference(field)
  }

  private mutating func advance(
    to now: MonotonicTime, into output: inout ServiceOutput<Self>
  ) {
    self.now = max(self.now ?? now, now)
    circles.advance(to: now, wallClockOffset, into: &output)
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      for change in groups[group]?.visits?.advance(to: now) ?? [] {
        deliver(change, in: group, into: &output)
      }
      if let change = groups[group]?.changes?.rule.advance(to: now) {
        deliver(change, in: group, into: &output)
      }
    }
    advanceRest(to: now, into: &output)
    for client in clients {
      if let answer = needs[client]?.request?.advance(to: now) {
        needs[client]?.request = nil
        deliver(answer, to: client, into: &output)
      }
      deliver(needs[client]?.deferral.advance(to: now) ?? [], to: client, into: &output)
    }
  }

  private mutating func deliver(
    _ answer: FixRequest.Answer, to client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    switch answer {
    case .fix(let fix):
      needs[client]?.received = fix.time
      output.deliver(.requestedFix(fix), to: client)
    case .timedOut:
      if let health, health.refusesLocations {
        output.deliver(.requestFailed(health), to: client)
      } else {
        output.deliver(.requestTimedOut, to: client)
      }
    }
  }

  private func deliver(
    _ events: [DeferredUpdates.Event], to client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    var held: [Fix] = []
    for (index, event) in events.enumerated() {
      switch event {
      case .deliver(let fixes):
        if case .finish? = events[(index + 1)...].first {
          held = fixes
        } else {
          output.deliver(.fixes(fixes), to: client)
        }
      case .finish(let error):
        output.deliver(.deferralFinished(error, held: held), to: client)
        held = []
      }
    }
  }

  private func deliver(
    _ change: VisitDetector.Change, in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    let visit =
      switch change {
      case .arrived(let visit), .departed(let visit): visit
      }
    output.deliver(
      .visit(VisitReport(visit, wallClockOffset)), of: Self.visits, in: group,
      state: groups[group]?.visits.map { .visits($0, wallClockOffset) })
  }

  private func deliver(
    _ fix: Fix, in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    output.deliver(
      .significantChange(fix), of: Self.changes, in: group,
      state: groups[group]?.changes.map { .significantChanges($0.rule, wallClockOffset) })
  }

  // MARK: Updates

  /// Starts location updates, with the latest fix if there is one. Updates that run already deliver nothing anew, but
  /// resume if they are paused. A request for one fix ends without an answer, as in Core Location.
  mutating func startUpdates(
    _ settings: UpdateSettings, for client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    guard needs[client]?.updates == nil else {
      needs[client]?.request = nil
      return setUpdates(settings, restarts: true, for: client, into: &output)
    }
    needs[client, default: Needs()].request = nil
    needs[client]?.updates = Updates(
      settings: settings, filter: DistanceFilter(distance: settings.distanceFilter),
      pause: PauseRule(activity: settings.activity))
    setDeferralConditions(of: client, into: &output)
    // It may be old: the next one is delivered whatever its distance.
    if let latestFix {
      needs[client]?.received = latestFix.time
      output.deliver(.fixes([latestFix]), to: client)
    }
  }

  /// Changes the settings of updates, if there are any.
  mutating func changeUpdates(
    _ settings: UpdateSettings, for client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    guard let old = needs[client]?.updates?.settings else { return }
    let restarts = settings.activity != old.activity || !settings.pausesAutomatically
    setUpdates(settings, restarts: restarts, for: client, into: &output)
  }

  private mutating func setUpdates(
    _ settings: UpdateSettings, restarts: Bool, for client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    needs[client]?.updates?.settings = settings
    needs[client]?.updates?.filter.distance = settings.distanceFilter
    let isResumed =
      restarts && needs[client]?.updates?.pause.start(activity: settings.activity) != nil
    if isResumed { output.deliver(.resumed, to: client) }
    setDeferralConditions(of: client, into: &output)
  }

  mutating func stopUpdates(
    for client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    needs[client]?.updates = nil
    setDeferralConditions(of: client, into: &output)
  }

  /// Requests one fix. The latest fix is the answer at once where the source has worked since, and it is accurate enough,
  /// not older than ``FixRequest/recent`` and new to the client.
  mutating func requestFix(
    _ accuracy: AccuracyClass, for client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    // A request that runs is answered once.
    guard needs[client]?.request == nil else { return }
    if let health, health.refusesLocations, !isHealthOld {
      return output.deliver(.requestFailed(health), to: client)
    }
    // Before a rest nothing is known of how long ago it was.
    let known = lastSeen == nil ? nil : latestFix
    let isRecent = known.map { (now ?? $0.time).seconds(since: $0.time) <= FixRequest.recent }
    if isRecent == true, let fix = known, fix.horizontalAccuracy <= accuracy.meters,
      needs[client]?.received != fix.time
    {
      needs[client, default: Needs()].received = fix.time
      return output.deliver(.requestedFix(fix), to: client)
    }
    // Where a source that delivers only changes is silent, the latest fix holds however old it is.
    let isValid = isRecent == true || reportsOnlyChanges
    fixRequests += 1
    needs[client, default: Needs()].request = FixRequest(
      accuracy, known: isValid ? known : nil, isRefused: health?.refusesLocations ?? false)
  }

  mutating func cancelRequest(for client: ClientIdentifier) { needs[client]?.request = nil }

  // MARK: Deferral

  private func conditions(of client: ClientIdentifier) -> DeferredUpdates.Conditions {
    let updates = needs[client]?.updates
    let settings = updates?.settings
    return DeferredUpdates.Conditions(
      isUpdating: updates?.pause.isPaused == false, accuracy: settings?.accuracy ?? .best,
      distanceFilter: settings?.distanceFilter, isAvailable: !hasEnded && !isRefused)
  }

  private mutating func setDeferralConditions(
    of client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    let conditions = conditions(of: client)
    deliver(needs[client]?.deferral.set(conditions) ?? [], to: client, into: &output)
  }

  mutating func allowDeferral(
    untilTraveled distance: Double, timeout: Double,
    for client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    var needs = needs[client] ?? Needs()
    // As in Core Location.
    needs.request = nil
    _ = needs.deferral.set(conditions(of: client))
    // A live source may have rested until now: its time comes soon.
    let events = needs.deferral.allow(
      untilTraveled: distance, timeout: timeout, at: isRecorded ? now : nil)
    self.needs[client] = needs
    deliver(events, to: client, into: &output)
  }

  mutating func disallowDeferral(
    for client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    deliver(needs[client]?.deferral.disallow() ?? [], to: client, into: &output)
  }

  // MARK: Headings

  /// Starts headings, or changes their filter and how the device is held; `nil` for each reading.
  mutating func startHeadings(
    filter: Double?, _ orientation: HeadingOrientation, for client: ClientIdentifier
  ) {
    var heading = needs[client]?.heading ?? HeadingFilter()
    heading.filter = filter
    heading.set(orientation)
    needs[client, default: Needs()].heading = heading
  }

  mutating func stopHeadings(for client: ClientIdentifier) { needs[client]?.heading = nil }

  // MARK: Visits and significant changes

  private static let visits = "visits"
  private static let changes = "significantChanges"

  mutating func startVisits(in group: ClientGroup, into output: inout ServiceOutput<Self>) {
    guard groups[group]?.visits == nil else { return }
    groups[group, default: Registered()].visits = VisitDetector()
    output.register(.visits, as: Self.visits, in: group, state: nil)
  }

  mutating func stopVisits(in group: ClientGroup, into output: inout ServiceOutput<Self>) {
    guard groups[group]?.visits != nil else { return }
    groups[group]?.visits = nil
    output.unregister(Self.visits, in: group)
  }

  /// Starts significant changes of a group. The first start of each client in this process delivers the latest fix to
  /// it, or the next one where there is none, also where the group has them already, as after a restart.
  mutating func startSignificantChanges(
    in group: ClientGroup, for client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    if groups[group]?.changes != nil {
      guard groups[group]?.changes?.started.insert(client).inserted == true else { return }
      if let latestFix {
        output.deliver(.significantChange(latestFix), to: client)
      } else {
        groups[group]?.changes?.waiting.insert(client)
      }
      return
    }
    var changes = Changes(started: [client])
    let cached = changes.rule.start(cached: latestFix)
    groups[group, default: Registered()].changes = changes
    output.register(.significantChanges, as: Self.changes, in: group, state: nil)
    if let cached { deliver(cached, in: group, into: &output) }
  }

  mutating func stopSignificantChanges(
    in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    guard groups[group]?.changes != nil else { return }
    groups[group]?.changes = nil
    output.unregister(Self.changes, in: group)
  }

  // MARK: Circles

  /// Delivers the state of a circle, registered or not, to a client when it is determined, or that it is not known where
  /// nothing can determine it.
  mutating func requestState(
    of region: CircularRegion, in group: ClientGroup, for client: ClientIdentifier,
    hasSource: Bool, into output: inout ServiceOutput<Self>
  ) {
    let isPossible =
      hasSource && status.isAuthorized && !hasEnded && health?.condition.isFault != true
    circles.requestState(
      of: region, in: group, for: client, isPossible: isPossible, into: &output)
  }

  // MARK: Restoring

  mutating func restore(_ stored: [StoredRegistration<Self>]) {
    for stored in stored {
      let group = stored.group
      switch (stored.registration, stored.state) {
      case (.circle(let circle), .circle(let state, let since)):
        circles.restore(circle, in: group, state: state, since: since)
      case (.circle(let circle), _):
        circles.restore(circle, in: group, state: .unknown, since: nil)
      case (.visits, .visits(var detector, let offset)):
        detector.move(by: offset.nanoseconds)
        groups[group, default: Registered()].visits = detector
      case (.significantChanges, .significantChanges(var changes, let offset)):
        changes.move(by: offset.nanoseconds)
        groups[group, default: Registered()].changes = Changes(rule: changes)
      case (.visits, _): groups[group, default: Registered()].visits = VisitDetector()
      case (.significantChanges, _):
        groups[group, default: Registered()].changes = Changes()
      }
    }
  }
}
