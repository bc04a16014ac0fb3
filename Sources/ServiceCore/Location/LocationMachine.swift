import Positioning
import Scanning

/// The location service's state machine: what clients requested and registered, and the machines that serve them.
struct LocationMachine: Service {
  typealias Source = PositionSource
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
  }

  /// What a client needs beyond the registrations of its group.
  struct Needs {
    var updates: Updates?
    var deferral = DeferredUpdates(DeferredUpdates.Conditions(isUpdating: false))
    var request: FixRequest?
    var heading: HeadingFilter?

    var requests: [LocationRequest] {
      var requests: [LocationRequest] = []
      if let updates {
        requests.append(
          updates.pause.isPaused
            ? .paused
            : .standard(
              updates.settings.accuracy, distanceFilter: updates.settings.distanceFilter))
      }
      if let request { requests.append(.standard(request.accuracy, distanceFilter: nil)) }
      if heading != nil { requests.append(.heading) }
      return requests
    }
  }

  /// What a group registered beside circles, each with its state.
  private struct Registered {
    var visits: VisitDetector?
    var changes: SignificantChange?
    var isEmpty: Bool { visits == nil && changes == nil }
  }

  private struct Circle {
    var group: ClientGroup
    var circle: MonitoredCircle
    var since: WallClockTime?
    /// Clients that requested the state before it was determined.
    var asked: [ClientIdentifier] = []
    /// The only client that wants the state of a circle that is not registered.
    var question: ClientIdentifier?
  }

  let isRecorded: Bool
  private(set) var needs: [ClientIdentifier: Needs] = [:]
  private var groups: [ClientGroup: Registered] = [:]
  /// Circles by their names in the monitor.
  private var circles: [String: Circle] = [:]
  private var monitor = GeofenceMonitor()
  private var questions: UInt64 = 0
  /// The names of circles of which a client awaits the state, each with when it is given up; `nil` before the source's
  /// time is known.
  private var awaited: [String: MonotonicTime?] = [:]
  /// The number of requests for one fix.
  private var fixRequests: UInt64 = 0
  /// The latest time of the source.
  private var now: MonotonicTime?
  /// The latest fix of all; `nil` if there was none.
  private(set) var latestFix: Fix?
  private(set) var latestHeading: [ClientIdentifier: Heading] = [:]
  private(set) var health: LocationHealth?
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

  var demand: PositionSource.Demand? {
    mutating get {
      guard status.isAuthorized, !hasEnded else { return nil }
      var requests = needs.values.flatMap(\.requests)
      for group in groups.values {
        if let visits = group.visits { requests.append(.visits(isStaying: visits.isStaying)) }
        if group.changes != nil { requests.append(.significantChange) }
      }
      if !circles.isEmpty {
        requests.append(.boundary(meters: monitor.nearestBoundary() ?? 0))
      }
      guard !requests.isEmpty else { return nil }
      var demand = LocationDemand(requests)
      demand.fixes?.requests = fixRequests
      return PositionSource.Demand(location: demand, deadline: deadline)
    }
  }

  private var deadline: MonotonicTime? {
    var deadlines = [monitor.nextDeadline()]
    for group in groups.values {
      deadlines.append(group.visits?.deadline)
      deadlines.append(group.changes?.deadline)
    }
    for needs in needs.values {
      deadlines.append(needs.request?.deadline)
      deadlines.append(needs.deferral.deadline)
    }
    deadlines += awaited.values
    return deadlines.compactMap { $0 }.min()
  }

  mutating func process(
    _ input: inout PositionSource.Input, into output: inout ServiceOutput<Self>
  ) -> Bool {
    // Before a recording's first value, its offset is not known.
    if input.progress.reached != nil { setOffset(input.progress.wallClockOffset) }
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
    guard latest?.condition != change.condition || latest?.sentence != change.sentence else {
      return
    }
    output.deliverToAll(.health(change, at: change.time.wallClockTime(wallClockOffset)))
    guard change.subject == .locations else { return headingHealth = change }
    health = change
    if change.condition == .denied {
      isRefusedBySource = true
    } else if !change.condition.isFault {
      isRefusedBySource = false
    }
    // A source that cannot tell the place answers no question.
    if change.condition.isFault { giveUpQuestions(into: &output) }
  }

  /// What was restored is in wall-clock time until the source's time is known.
  private mutating func setOffset(_ offset: WallClockOffset) {
    defer { (wallClockOffset, hasOffset) = (offset, true) }
    guard !hasOffset else { return }
    for group in groups.keys {
      groups[group]?.visits?.move(by: 0 &- offset.nanoseconds)
      groups[group]?.changes?.move(by: 0 &- offset.nanoseconds)
    }
  }

  mutating func rest() {}

  mutating func end(
    _ sentence: String, isFailure: Bool, into output: inout ServiceOutput<Self>
  ) {
    hasEnded = true
    giveUpQuestions(into: &output)
    for client in clients {
      if needs[client]?.request != nil {
        needs[client]?.request = nil
        output.deliver(.requestTimedOut, to: client)
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
    giveUpQuestions(into: &output)
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
    latestHeading[client] = nil
    for (name, circle) in circles {
      if circle.question == client {
        removeCircle(name)
        awaited[name] = nil
      } else {
        circles[name]?.asked.removeAll { $0 == client }
      }
    }
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
    latestFix = fix
    for transition in monitor.receive(fix) { deliver(transition, into: &output) }
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      for change in groups[group]?.visits?.receive(fix) ?? [] {
        deliver(change, in: group, into: &output)
      }
      if let change = groups[group]?.changes?.receive(fix) {
        deliver(change, in: group, into: &output)
      }
    }
    for client in clients { deliver(fix, to: client, into: &output) }
  }

  /// Delivers a fix to a client's updates and to its request, as far as they want it.
  private mutating func deliver(
    _ fix: Fix, to client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) {
    guard var needs = needs[client] else { return }
    if let answer = needs.request?.receive(fix) {
      needs.request = nil
      deliver(answer, to: client, into: &output)
    }
    if var updates = needs.updates {
      let wasPaused = updates.pause.isPaused
      let change = updates.settings.pausesAutomatically ? updates.pause.receive(fix) : nil
      if change == .resumed { output.deliver(.resumed, to: client) }
      // The fix that pauses or resumes updates is delivered.
      if (!wasPaused || change == .resumed) && updates.filter.receive(fix) {
        deliver(needs.deferral.receive(fix), to: client, into: &output)
      }
      if change == .paused { output.deliver(.paused, to: client) }
      needs.updates = updates
    }
    self.needs[client] = needs
    // Paused updates are not deferred.
    if needs.updates?.pause.isPaused == true { setDeferralConditions(of: client, into: &output) }
  }

  private mutating func receive(
    _ reading: CompassReading, into output: inout ServiceOutput<Self>
  ) {
    advance(to: reading.time, into: &output)
    // True headings only while locations are updated too.
    let north =
      needs.values.contains { $0.updates != nil }
      ? latestFix.flatMap {
        NorthDifference(
          MagneticModel.field(
            at: $0.place, height: $0.ellipsoidalAltitude ?? $0.altitude ?? 0,
            time: reading.timestamp))
      } : nil
    for client in clients {
      guard let heading = needs[client]?.heading?.receive(reading, north: north) else { continue }
      latestHeading[client] = heading
      output.deliver(.heading(heading), to: client)
    }
  }

  private mutating func advance(
    to now: MonotonicTime, into output: inout ServiceOutput<Self>
  ) {
    self.now = max(self.now ?? now, now)
    for transition in monitor.advance(to: now) { deliver(transition, into: &output) }
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      for change in groups[group]?.visits?.advance(to: now) ?? [] {
        deliver(change, in: group, into: &output)
      }
      if let change = groups[group]?.changes?.advance(to: now) {
        deliver(change, in: group, into: &output)
      }
    }
    for (name, limit) in awaited.sorted(by: { $0.key < $1.key }) {
      guard let limit else {
        awaited[name] = now.advanced(bySeconds: FixRequest.limit)
        continue
      }
      if now >= limit { giveUp(name, into: &output) }
    }
    for client in clients {
      if let answer = needs[client]?.request?.advance(to: now) {
        needs[client]?.request = nil
        deliver(answer, to: client, into: &output)
      }
      deliver(needs[client]?.deferral.advance(to: now) ?? [], to: client, into: &output)
    }
  }

  private func deliver(
    _ answer: FixRequest.Answer, to client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    switch answer {
    case .fix(let fix): output.deliver(.requestedFix(fix), to: client)
    case .timedOut: output.deliver(.requestTimedOut, to: client)
    }
  }

  private func deliver(
    _ events: [DeferredUpdates.Event], to client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    for event in events {
      switch event {
      case .deliver(let fixes): output.deliver(.fixes(fixes), to: client)
      case .finish(let error): output.deliver(.deferralFinished(error), to: client)
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
      state: groups[group]?.changes.map { .significantChanges($0, wallClockOffset) })
  }

  // MARK: Updates

  /// Starts location updates, with the latest fix if there is one. Updates that run already deliver nothing anew, but
  /// resume if they are paused.
  mutating func startUpdates(
    _ settings: UpdateSettings, for client: ClientIdentifier,
    into output: inout ServiceOutput<Self>
  ) {
    guard needs[client]?.updates == nil else {
      return setUpdates(settings, restarts: true, for: client, into: &output)
    }
    needs[client, default: Needs()].updates = Updates(
      settings: settings, filter: DistanceFilter(distance: settings.distanceFilter),
      pause: PauseRule(activity: settings.activity))
    setDeferralConditions(of: client, into: &output)
    // It may be old: the next one is delivered whatever its distance.
    if status.isAuthorized, let latestFix { output.deliver(.fixes([latestFix]), to: client) }
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

  mutating func requestFix(_ accuracy: AccuracyClass, for client: ClientIdentifier) {
    // A request that runs is answered once.
    guard needs[client]?.request == nil else { return }
    fixRequests += 1
    needs[client, default: Needs()].request = FixRequest(accuracy)
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

  mutating func startSignificantChanges(
    in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    guard groups[group]?.changes == nil else { return }
    var changes = SignificantChange()
    let cached = changes.start(cached: latestFix)
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

  /// The name of a group's circle in the monitor. Names of groups cannot run into identifiers, as their length stands
  /// before.
  private static func name(_ identifier: String, _ group: ClientGroup) -> String {
    "\(group.name.utf8.count):\(group.name)\(identifier)"
  }

  /// The identifier under which a circle is stored.
  private static func storedIdentifier(_ identifier: String) -> String { "circle:\(identifier)" }

  /// Monitors a circle. One that is monitored already with the same place and radius keeps its state.
  mutating func register(
    _ circle: MonitoredCircle, in group: ClientGroup, assuming state: GeofenceState?,
    for client: ClientIdentifier, into output: inout ServiceOutput<Self>
  ) throws(GeofenceError) {
    let name = Self.name(circle.region.identifier, group)
    if circles[name]?.circle.region != circle.region {
      let replaced = circles[name]
      try add(circle, name, in: group, assuming: state ?? .unknown)
      answer(replaced, name, into: &output)
    }
    circles[name]?.circle = circle
    output.register(
      .circle(circle), as: Self.storedIdentifier(circle.region.identifier), in: group,
      state: stateToStore(name))
    output.deliver(.registered(circle), to: client)
  }

  private mutating func add(
    _ circle: MonitoredCircle, _ name: String, in group: ClientGroup, assuming state: GeofenceState
  ) throws(GeofenceError) {
    let region = try CircularRegion(
      identifier: name, center: circle.region.center, radius: circle.region.radius)
    try monitor.add(region, assuming: state)
    circles[name] = Circle(group: group, circle: circle)
  }

  private func stateToStore(_ name: String) -> RegistrationState? {
    guard let state = monitor.status(of: name)?.state, let since = circles[name]?.since else {
      return nil
    }
    return .circle(state, since: since)
  }

  mutating func unregister(
    _ identifier: String, in group: ClientGroup, into output: inout ServiceOutput<Self>
  ) {
    let name = Self.name(identifier, group)
    guard let circle = removeCircle(name) else { return }
    answer(circle, name, into: &output)
    output.unregister(Self.storedIdentifier(identifier), in: group)
  }

  @discardableResult
  private mutating func removeCircle(_ name: String) -> Circle? {
    monitor.remove(name)
    return circles.removeValue(forKey: name)
  }

  func circles(in group: ClientGroup) -> [MonitoredCircle] {
    circles.values.filter { $0.group == group && $0.question == nil }.map(\.circle)
      .sorted { $0.region.identifier < $1.region.identifier }
  }

  func snapshot(of identifier: String, in group: ClientGroup) -> CircleSnapshot? {
    let name = Self.name(identifier, group)
    guard let circle = circles[name], let status = monitor.status(of: name) else { return nil }
    return CircleSnapshot(circle: circle.circle, state: status.state, since: circle.since)
  }

  /// Finds out the state of a circle, registered or not, and reports it to the client.
  mutating func requestState(
    of region: CircularRegion, in group: ClientGroup, for client: ClientIdentifier,
    isAvailable: Bool, into output: inout ServiceOutput<Self>
  ) {
    let name = Self.name(region.identifier, group)
    if circles[name]?.circle.region == region, let status = monitor.status(of: name),
      status.isDetermined
    {
      return output.deliver(.circleState(region, status.state), to: client)
    }
    guard isAvailable, status.isAuthorized, !hasEnded, health?.condition.isFault != true else {
      return output.deliver(.circleState(region, .unknown), to: client)
    }
    if circles[name]?.circle.region == region {
      circles[name]?.asked.append(client)
      if awaited[name] == nil { awaited[name] = .some(nil) }
      return
    }
    let isPending = circles.values.contains {
      $0.question == client && $0.circle.region == region
    }
    guard !isPending else { return }
    questions += 1
    let question = "?\(questions)"
    do throws(GeofenceError) {
      try add(MonitoredCircle(region), question, in: group, assuming: .unknown)
      circles[question]?.question = client
      awaited[question] = .some(nil)
    } catch {
      output.deliver(.circleState(region, .unknown), to: client)
    }
  }

  /// Answers the requests for states that cannot be answered any more.
  private mutating func giveUpQuestions(into output: inout ServiceOutput<Self>) {
    for name in awaited.keys.sorted() { giveUp(name, into: &output) }
  }

  private mutating func giveUp(_ name: String, into output: inout ServiceOutput<Self>) {
    let circle = circles[name]
    circles[name]?.asked = []
    if circle?.question != nil { removeCircle(name) }
    answer(circle, name, into: &output)
  }

  /// Answers those who await the state of a circle that is not determined.
  private mutating func answer(
    _ circle: Circle?, _ name: String, into output: inout ServiceOutput<Self>
  ) {
    awaited[name] = nil
    guard let circle else { return }
    for client in circle.asked + (circle.question.map { [$0] } ?? []) {
      output.deliver(.circleState(circle.circle.region, .unknown), to: client)
    }
  }

  private mutating func deliver(
    _ transition: GeofenceTransition, into output: inout ServiceOutput<Self>
  ) {
    let name = transition.region
    guard let circle = circles[name] else { return }
    awaited[name] = nil
    if let client = circle.question {
      removeCircle(name)
      return output.deliver(.circleState(circle.circle.region, transition.change.state), to: client)
    }
    let event = CircleEvent(
      circle: circle.circle,
      transition: transition.renamed(circle.circle.region.identifier),
      wallClockOffset: wallClockOffset)
    if transition.change.state != transition.previous || circle.since == nil {
      circles[name]?.since = event.wallClockTime
    }
    circles[name]?.asked = []
    output.deliver(
      .circle(event), of: Self.storedIdentifier(circle.circle.region.identifier),
      in: circle.group, state: stateToStore(name))
  }

  // MARK: Restoring

  mutating func restore(_ stored: [StoredRegistration<Self>]) {
    for stored in stored {
      let group = stored.group
      switch (stored.registration, stored.state) {
      case (.circle(let circle), let state):
        let name = Self.name(circle.region.identifier, group)
        guard case .circle(let known, let since)? = state else {
          try? add(circle, name, in: group, assuming: .unknown)
          continue
        }
        try? add(circle, name, in: group, assuming: known)
        circles[name]?.since = since
      case (.visits, .visits(var detector, let offset)):
        detector.move(by: offset.nanoseconds)
        groups[group, default: Registered()].visits = detector
      case (.significantChanges, .significantChanges(var changes, let offset)):
        changes.move(by: offset.nanoseconds)
        groups[group, default: Registered()].changes = changes
      case (.visits, _): groups[group, default: Registered()].visits = VisitDetector()
      case (.significantChanges, _):
        groups[group, default: Registered()].changes = SignificantChange()
      }
    }
  }
}
