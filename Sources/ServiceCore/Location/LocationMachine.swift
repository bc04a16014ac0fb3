import Positioning
import Scanning

/// The location service's state machine. It passes events to its parts and delivers their changes.
struct LocationMachine: Service {
  typealias Input = PositionInput
  typealias Demand = LocationDemand
  typealias Health = LocationHealth
  typealias Event = LocationEvent

  typealias Registration = LocationRegistration
  typealias RegistrationState = LocationRegistrationState

  static let name = LocationService.name
  private static let visits = "visits"
  private static let changes = "significantChanges"

  let isRecorded: Bool
  private var clients: [ClientIdentifier: ClientUpdates] = [:]
  private var groups: [ClientGroup: GroupDetectors] = [:]
  var compass = CompassState()
  var circles = LocationCircles()
  private var source = LocationSourceState()
  private var fixRequests: UInt64 = 0
  private var status = AuthorizationStatus.notDetermined
  private var hasEnded = false
  private var batch: (client: ClientIdentifier, fixes: [Fix])?

  init(isRecorded: Bool) { self.isRecorded = isRecorded }

  var health: LocationHealth? { source.health }
  var wallClockOffset: WallClockOffset { source.wallClockOffset }

  var latestFix: Fix? { status.isAuthorized && !source.isRefused ? source.newestFix : nil }

  var isRefused: Bool { status == .denied || status == .restricted }

  private var isAvailable: Bool { !hasEnded && !isRefused }

  func use(of client: ClientIdentifier, in group: ClientGroup) -> LocationUse {
    LocationUse(
      updates: clients[client]?.settings, isRequesting: isRequesting(client),
      headings: compass.isNeeded(by: client), visits: groups[group]?.visits != nil,
      significantChanges: groups[group]?.receivesChanges(client) ?? false)
  }

  var hasRegistrations: Bool {
    circles.registeredCount > 0
      || groups.values.contains { $0.visits != nil || $0.changeRule != nil }
  }

  var registeredGroups: Set<ClientGroup> {
    let detecting = groups.filter { $0.value.visits != nil || $0.value.changeRule != nil }
    return circles.groups.union(detecting.keys)
  }

  // MARK: Clients and groups

  mutating func modify(
    _ client: ClientIdentifier, into output: inout Output,
    _ change: (inout ClientUpdates) -> [LocationEvent]
  ) {
    guard let index = clients.index(forKey: client) else { return }
    for event in change(&clients.values[index]) { output.deliver(event, to: client) }
  }

  /// Gathers a recording's fixes for a client that takes several. Returns whether more may follow.
  private mutating func gather(_ output: inout Output) -> Bool {
    guard !output.items.isEmpty else { return true }
    guard output.items.count == 1,
      case .event(.fixes(let fixes), .client(let client)) = output.items[0],
      batch == nil || batch?.client == client, clients[client]?.settings?.takesBatches == true
    else { return false }
    output.removeAll()
    batch = batch ?? (client, [])
    batch?.fixes += fixes
    return batch.map { $0.fixes.count < UpdateSettings.batch } ?? true
  }

  private mutating func flush(_ output: inout Output) {
    if let batch { output.deliverFirst(.fixes(batch.fixes), to: batch.client) }
    batch = nil
  }

  /// Changes the updates of a client, after adding them if it has none.
  private mutating func add(
    _ client: ClientIdentifier, into output: inout Output,
    _ change: (inout ClientUpdates) -> [LocationEvent]
  ) {
    if clients[client] == nil { clients[client] = ClientUpdates(isAvailable: isAvailable) }
    modify(client, into: &output, change)
  }

  /// Changes the updates of each client, in the order of the clients.
  private mutating func modifyClients(
    into output: inout Output, _ change: (inout ClientUpdates) -> [LocationEvent]
  ) {
    for client in clients.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      modify(client, into: &output, change)
    }
  }

  private mutating func modify(
    _ group: ClientGroup, into output: inout Output,
    _ change: (inout GroupDetectors) -> [GroupDetectors.Event]
  ) {
    var detectors = groups.removeValue(forKey: group) ?? GroupDetectors()
    let events = change(&detectors)
    for event in events {
      var report: VisitReport?
      if case .visit(let visit) = event { report = detectors.report(visit, wallClockOffset) }
      deliver(event, report, of: detectors, in: group, into: &output)
    }
    groups[group] = detectors
  }

  /// Delivers an event. The detectors are not `inout`, because the optimizer of Swift 6.3 then
  /// fails.
  private func deliver(
    _ event: GroupDetectors.Event, _ report: VisitReport?, of detectors: GroupDetectors,
    in group: ClientGroup, into output: inout Output
  ) {
    switch event {
    case .visit(let visit):
      output.deliver(
        .visit(report ?? VisitReport(visit, wallClockOffset)), of: Self.visits, in: group,
        state: detectors.visits.map { .visits($0, wallClockOffset) })
    case .significantChange(let fix):
      output.deliver(
        .significantChange(fix), of: Self.changes, in: group,
        state: detectors.changeRule.map { .significantChanges($0, wallClockOffset) })
    case .first(let fix, let client): output.deliver(.significantChange(fix), to: client)
    }
  }

  /// Changes the detectors of each group, in the order of their names.
  private mutating func modifyGroups(
    into output: inout Output, _ change: (inout GroupDetectors) -> [GroupDetectors.Event]
  ) {
    for group in groups.keys.sorted(by: { $0.name < $1.name }) {
      modify(group, into: &output, change)
    }
  }

  mutating func remove(_ client: ClientIdentifier) {
    clients[client] = nil
    compass.remove(client)
    circles.remove(client)
    for group in groups.keys { groups[group]?.remove(client) }
  }

  // MARK: The source

  static var asksForAvailability: Bool { false }

  static func union(_ one: LocationDemand, _ other: LocationDemand) -> LocationDemand {
    var union = one
    union.merge(other)
    // Each new request of either makes a source of movements deliver a fix.
    union.fixes?.requests = (one.fixes?.requests ?? 0) &+ (other.fixes?.requests ?? 0)
    return union
  }

  static func replaces(_ new: LocationHealth, _ old: LocationHealth) -> Bool {
    new.subject == old.subject
  }

  static func lasts(_ input: PositionInput) -> Bool {
    if case .fix = input { true } else { false }
  }

  static func concernsAvailability(_ health: LocationHealth) -> Bool {
    health.subject == .locations
  }

  var demand: ServiceDemand<LocationDemand>? {
    mutating get {
      guard !hasEnded else { return nil }
      var requests = clients.values.flatMap(\.requests) + groups.values.flatMap(\.requests)
      if let request = circles.request(accuracy: source.newestFix?.horizontalAccuracy) {
        requests.append(request)
      }
      if !status.isAuthorized {
        // Headings need no authorization, but a recording with fixes would be over before
        // permission.
        guard !isRecorded || requests.isEmpty else { return nil }
        requests = []
      }
      if compass.isNeeded { requests.append(.heading) }
      guard !requests.isEmpty else { return nil }
      var demand = LocationDemand(requests)
      demand.fixes?.requests = fixRequests
      let deadlines =
        clients.values.map(\.deadline) + groups.values.map(\.deadline)
        + [circles.deadline, dependsOnRest ? source.restDeadline : nil]
      return ServiceDemand(demand, until: deadlines.compactMap(\.self).min())
    }
  }

  private var dependsOnRest: Bool {
    groups.values.contains { $0.visits != nil } || clients.values.contains(where: \.dependsOnRest)
  }

  mutating func process(_ input: inout ServiceInput<Self>, into output: inout Output) -> Bool {
    // Before a recording's first value, its offset is unknown.
    if let reached = input.progress.reached {
      let offset = input.progress.wallClockOffset
      // Restored times are wall-clock times until the source's time is known.
      if source.setOffset(offset) {
        for group in groups.keys { groups[group]?.start(offset, at: reached) }
      }
    }
    source.reportsOnlyChanges = input.reportsOnlyChanges
    // Values of a live source may be older than their arrival.
    let arrival = isRecorded ? nil : input.progress.reached
    while true {
      let next = input.processed < input.values.count ? input.values[input.processed] : nil
      if let change = input.progress.health.first, next.map({ change.time <= $0.time }) ?? true {
        input.progress.health.removeFirst()
        receive(change, into: &output)
      } else if let next {
        input.processed += 1
        switch next {
        case .fix(let fix):
          receive(fix, at: max(fix.time, arrival ?? fix.time), into: &output)
        case .compass(let reading): receive(reading, into: &output)
        }
      } else {
        break
      }
      // In a recording, clients may change their requests before it continues.
      if isRecorded, !gather(&output) {
        flush(&output)
        return false
      }
    }
    if let reached = input.progress.reached { advance(to: reached, into: &output) }
    flush(&output)
    return true
  }

  /// Changes the source's state, and reports whether it refuses the application where that changes.
  private mutating func modifySource<Result>(
    into output: inout Output, _ change: (inout LocationSourceState) -> Result
  ) -> Result {
    let wasRefused = source.isRefused
    defer { if source.isRefused != wasRefused { output.setRefused(source.isRefused) } }
    return change(&source)
  }

  private mutating func receive(_ change: LocationHealth, into output: inout Output) {
    if modifySource(into: &output, { $0.receive(change) }) {
      output.deliverToAll(.health(change, at: change.time.wallClockTime(wallClockOffset)))
    }
    guard change.subject == .locations, change.condition.isFault else { return }
    circles.endRequests(into: &output)
    guard change.refusesLocations else { return }
    modifyClients(into: &output) { $0.refuse(change) }
  }

  private mutating func receive(_ fix: Fix, at now: MonotonicTime, into output: inout Output) {
    // An old fix does not advance the time.
    if now.seconds(since: fix.time) <= FixRequest.recent { advance(to: fix.time, into: &output) }
    guard status.isAuthorized else { return }
    modifySource(into: &output) { $0.receive(fix) }
    circles.receive(fix, wallClockOffset, into: &output)
    modifyGroups(into: &output) { $0.receive(fix) }
    let refusal = source.refusal
    modifyClients(into: &output) { $0.receive(fix, at: now, refusal: refusal) }
  }

  private mutating func receive(_ reading: CompassReading, into output: inout Output) {
    advance(to: reading.time, into: &output)
    // Headings are true only while locations are updated too.
    let isUpdating = status.isAuthorized && clients.values.contains { $0.settings != nil }
    let result = compass.receive(reading, at: isUpdating ? source.newestFix : nil)
    if let expiry = result.expiry {
      output.deliverToAll(.health(expiry, at: expiry.time.wallClockTime(wallClockOffset)))
    }
    for (client, heading) in result.headings { output.deliver(.heading(heading), to: client) }
  }

  private mutating func advance(to now: MonotonicTime, into output: inout Output) {
    source.advance(to: now)
    circles.advance(to: now, wallClockOffset, into: &output)
    modifyGroups(into: &output) { $0.advance(to: now) }
    if dependsOnRest, let fix = source.restingFix(at: now) {
      modifyGroups(into: &output) { $0.rest(at: fix) }
      modifyClients(into: &output) { $0.rest(at: fix) }
    }
    let refusal = source.refusal
    modifyClients(into: &output) { $0.advance(to: now, refusal: refusal) }
  }

  mutating func rest() { source.rest() }

  mutating func end(_ sentence: String, isFailure: Bool, into output: inout Output) {
    hasEnded = true
    circles.endRequests(into: &output)
    let refusal = source.refusal
    modifyClients(into: &output) { $0.endRequest(refusal: refusal) + $0.setAvailable(false) }
    output.deliverToAll(.ended(sentence, isFailure: isFailure))
  }

  mutating func setAuthorization(_ status: AuthorizationStatus, into output: inout Output) {
    let previous = self.status
    self.status = status
    let isAvailable = isAvailable
    modifyClients(into: &output) { $0.setAvailable(isAvailable) }
    guard !status.isAuthorized else { return }
    circles.endRequests(into: &output)
    // Requests from before the answer are refused as well.
    if previous.isAuthorized || isRefused && status != previous {
      output.deliverToAll(.refused(status))
    }
  }

  func reportHealth(to client: ClientIdentifier, into output: inout Output) {
    guard let health else { return }
    output.deliver(.health(health, at: health.time.wallClockTime(wallClockOffset)), to: client)
  }

  // MARK: Updates

  mutating func startUpdates(
    _ settings: UpdateSettings, for client: ClientIdentifier, into output: inout Output
  ) {
    let latest = latestFix
    add(client, into: &output) { $0.start(settings, latest: latest) }
  }

  private func isRequesting(_ client: ClientIdentifier) -> Bool {
    clients[client]?.isRequesting ?? false
  }

  /// Requests one fix; see ``ClientUpdates/request(_:known:isRecent:isRefused:)``.
  mutating func requestFix(
    _ accuracy: AccuracyClass, for client: ClientIdentifier, into output: inout Output
  ) {
    guard !isRequesting(client) else { return }
    if let refusal = source.currentRefusal {
      return output.deliver(.requestFailed(refusal), to: client)
    }
    let known = status.isAuthorized ? source.validFix : nil
    let (isRecent, isRefused) = (source.isFixRecent, source.refusal != nil)
    add(client, into: &output) {
      $0.request(accuracy, known: known, isRecent: isRecent, isRefused: isRefused)
    }
    if isRequesting(client) { fixRequests += 1 }
  }

  mutating func cancelRequest(for client: ClientIdentifier) { clients[client]?.cancelRequest() }

  mutating func allowDeferral(
    untilTraveled distance: Double, timeout: Double, for client: ClientIdentifier,
    into output: inout Output
  ) {
    // A live source may have rested until now, so its time comes with the next input.
    let now = isRecorded ? source.now : nil
    add(client, into: &output) {
      $0.allowDeferral(untilTraveled: distance, timeout: timeout, at: now)
    }
  }

  // MARK: Visits and significant changes

  mutating func startVisits(in group: ClientGroup, into output: inout Output) {
    guard groups[group]?.visits == nil else { return }
    groups[group, default: GroupDetectors()].startVisits()
    output.register(.visits, as: Self.visits, in: group, state: nil)
  }

  mutating func stopVisits(in group: ClientGroup, into output: inout Output) {
    guard groups[group]?.visits != nil else { return }
    groups[group]?.stopVisits()
    output.unregister(Self.visits, in: group)
  }

  mutating func startSignificantChanges(
    in group: ClientGroup, for client: ClientIdentifier, into output: inout Output
  ) {
    if groups[group]?.changeRule == nil {
      output.register(.significantChanges, as: Self.changes, in: group, state: nil)
    }
    let latest = latestFix
    modify(group, into: &output) { $0.startChanges(for: client, latest: latest) }
  }

  mutating func stopSignificantChanges(in group: ClientGroup, into output: inout Output) {
    guard groups[group]?.changeRule != nil else { return }
    groups[group]?.stopChanges()
    output.unregister(Self.changes, in: group)
  }

  // MARK: Circles

  /// Delivers a circle's state to a client when it is determined, or `unknown` if it cannot be.
  mutating func requestState(
    of region: CircularRegion, in group: ClientGroup, for client: ClientIdentifier,
    hasSource: Bool, into output: inout Output
  ) {
    // A state from before a fault may be outdated; one from before a recording's end is not.
    let isKnown = status.isAuthorized && (hasEnded || !source.hasFault)
    circles.requestState(
      of: region, in: group, for: client, isKnown: isKnown,
      isPossible: isKnown && hasSource && !hasEnded, into: &output)
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
      case (.visits, .visits(let detector, let offset)):
        groups[group, default: GroupDetectors()].restore(detector, offset)
      case (.visits, _): groups[group, default: GroupDetectors()].startVisits()
      case (.significantChanges, .significantChanges(let rule, let offset)):
        groups[group, default: GroupDetectors()].restore(rule, offset)
      case (.significantChanges, _):
        groups[group, default: GroupDetectors()].restore(SignificantChange(), .zero)
      }
    }
  }
}
