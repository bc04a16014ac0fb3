import Advertising
import Ranging
import Regions
import Scanning

/// The beacon service's state machine: the clients' requests, and the engine that serves them.
struct BeaconMachine: Service {
  typealias Input = Sighting
  typealias Demand = ScanDemand
  typealias Health = ScannerHealth
  typealias Event = BeaconEvent
  typealias Registration = BeaconRegion

  typealias RegistrationState = BeaconRegistrationState

  static let name = BeaconService.name

  struct Needs {
    var ranged: Set<RangingRequest> = []
    var filter = ConstraintFilter()
    var areSightingsWanted = false
  }

  enum Owner {
    case registration(Key)
    /// A region that is monitored only to answer a client's request for its state.
    case question(ClientIdentifier, BeaconRegion)
  }

  struct Key: Hashable {
    var group: ClientGroup
    var identifier: String

    /// The name in the engine. The length of the group's name keeps the parts apart.
    var name: String {
      group == .application
        ? "a\(identifier)" : "g\(group.name.utf8.count):\(group.name)\(identifier)"
    }
  }

  private struct Entry {
    var region: BeaconRegion
    var state: RegistrationState?
  }

  let isRecorded: Bool
  let rules: RegionRules
  private(set) var engine: BeaconEngine
  private(set) var receivers = ReceiverStates()
  private(set) var wallClockOffset = WallClockOffset.zero
  private(set) var needs: [ClientIdentifier: Needs] = [:]
  private var regions: [Key: Entry] = [:]
  private var owners: [String: Owner] = [:]
  /// The clients that requested the state of a registered region before it was determined.
  private var asked: [Key: [ClientIdentifier]] = [:]
  private var questions: UInt64 = 0
  private var status = AuthorizationStatus.notDetermined
  private var hasEnded = false

  init(_ configuration: BeaconService.Configuration, isRecorded: Bool) {
    self.isRecorded = isRecorded
    rules = configuration.rules
    engine = BeaconEngine(configuration, isRecorded: isRecorded)
  }

  // MARK: The source

  static func union(_ one: ScanDemand, _ other: ScanDemand) -> ScanDemand { max(one, other) }

  static func replaces(_ new: ScannerHealth, _ old: ScannerHealth) -> Bool {
    old.isAbout(new) || new.adapter == nil || old.adapter == nil
  }

  var demand: ServiceDemand<ScanDemand>? {
    mutating get {
      guard status.isAuthorized, !hasEnded else { return nil }
      let scan: ScanDemand =
        if !engine.ranged.isEmpty || needs.values.contains(where: \.areSightingsWanted) {
          .ranging
        } else if engine.monitor.regionCount > 0 {
          // The first look at a region is short.
          engine.monitor.needsFullDuty
            ? .ranging : engine.monitor.hasGates ? .monitoringSignals : .monitoring
        } else {
          .none
        }
      return scan == .none ? nil : ServiceDemand(scan, until: engine.nextDeadline)
    }
  }

  mutating func process(_ input: inout ServiceInput<Self>, into output: inout Output) -> Bool {
    let progress = input.progress
    wallClockOffset = progress.wallClockOffset
    // A recording has everything that was received, whatever the demand.
    if !isRecorded { engine.monitor.dutyChanged(isFull: input.demand == .ranging) }
    if input.progress.hasOtherReceiver {
      input.progress.hasOtherReceiver = false
      engine.monitor.receiverChanged()
    }
    if let began = progress.began { engine.begin(at: began) }
    let rest = input.values[input.processed...]
    // A receiver's state applies to what it received from then on.
    let due = progress.health.first.map { next in rest.prefix { $0.time < next.time } } ?? rest
    let count = engine.receive(due)
    deliver(rest.prefix(count), into: &output)
    input.processed += count
    var isDone = false
    if count < due.count || engine.hasNews {
      // The changes so far are delivered first.
    } else if let next = progress.health.first {
      if engine.isPast(next.time) || engine.advance(to: next.time) {
        engine.update(input.progress.health.removeFirst())
      }
    } else {
      isDone = progress.reached.map { engine.advance(to: $0) } ?? true
    }
    deliverNews(into: &output)
    return isDone
  }

  mutating func rest() {
    engine.rest()
    receivers.rest()
  }

  var hasToldFault: Bool { receivers.areFaults }

  mutating func recovered(_ name: String, into output: inout Output) {
    guard let last = receivers.latest.last else { return }
    // The adapter's next report follows the moment that was reached.
    let change = ScannerHealth(
      .scanning, at: engine.now ?? last.time, adapter: last.adapter, address: last.address,
      isReceptionLost: false, sentence: "\(name) can be used again")
    _ = receivers.update(change)
    output.deliverToAll(.health(change, at: .now))
  }

  mutating func end(_ sentence: String, isFailure: Bool, into output: inout Output) {
    engine.finish()
    deliverNews(into: &output)
    hasEnded = true
    giveUpQuestions(into: &output)
    output.deliverToAll(.ended(sentence, isFailure: isFailure))
  }

  mutating func setAuthorization(_ status: AuthorizationStatus, into output: inout Output) {
    let wasAuthorized = self.status.isAuthorized
    self.status = status
    guard !status.isAuthorized else { return }
    giveUpQuestions(into: &output)
    if wasAuthorized { output.deliverToAll(.refused(status)) }
  }

  mutating func remove(_ client: ClientIdentifier) {
    needs[client] = nil
    updateRanging()
    // The same recording must give the same answers in the same order.
    for (name, owner) in owners.sorted(by: { $0.key < $1.key }) {
      guard case .question(client, _) = owner else { continue }
      engine.monitor.remove(name)
      owners[name] = nil
    }
    for key in asked.keys { asked[key]?.removeAll { $0 == client } }
  }

  // MARK: Ranging

  mutating func setNeeds(of client: ClientIdentifier, _ change: (inout Needs) -> Void) {
    var changed = needs[client] ?? Needs()
    change(&changed)
    changed.filter = ConstraintFilter(changed.ranged)
    needs[client] = changed
    updateRanging()
  }

  private mutating func updateRanging() {
    engine.range(ConstraintFilter(needs.values.flatMap(\.ranged)))
  }

  // MARK: Regions

  var isRefused: Bool { status == .denied || status == .restricted }

  /// Monitors a region, with the state that it has if its beacons and rules are the same.
  mutating func register(
    _ region: BeaconRegion, in group: ClientGroup, assuming assumed: RegionState?,
    for client: ClientIdentifier, into output: inout Output
  ) throws(RegionError) {
    let key = Key(group: group, identifier: region.identifier)
    let monitored = monitored(region, as: key.name)
    let isKnown = engine.monitor.region(key.name) == monitored
    var state = regions[key]?.state
    if !isKnown {
      let isSame = assumed == .inside && regions[key]?.region.constraint == region.constraint
      let beacons = isSame && monitored.rules.reportsEachBeacon ? state?.beacons : nil
      state = assumed.map { RegistrationState(state: $0, since: nil, beacons: beacons) }
      try engine.monitor.add(
        monitored, assuming: assumed, beacons: expected(state, of: region.constraint))
      owners[key.name] = .registration(key)
    }
    regions[key] = Entry(region: region, state: state)
    output.register(region, as: region.identifier, in: group, state: state)
    output.deliver(.registered(region), to: client)
  }

  /// Returns the exit timeouts of the beacons that are assumed inside; 0 for the usual one.
  private func expected(
    _ state: RegistrationState?, of constraint: BeaconConstraint
  ) -> [BeaconIdentity: Double] {
    state?.beacons(of: constraint) { $0.exitTimeout ?? 0 } ?? [:]
  }

  mutating func unregister(_ identifier: String, in group: ClientGroup, into output: inout Output) {
    let key = Key(group: group, identifier: identifier)
    guard let entry = regions.removeValue(forKey: key) else { return }
    engine.monitor.remove(key.name)
    owners[key.name] = nil
    for client in asked.removeValue(forKey: key) ?? [] {
      output.deliver(.regionState(entry.region, .unknown), to: client)
    }
    output.unregister(identifier, in: group)
  }

  func regions(in group: ClientGroup) -> [BeaconRegion] {
    regions.filter { $0.key.group == group }.map(\.value.region)
      .sorted { $0.identifier < $1.identifier }
  }

  var regionCount: Int { regions.count }

  var groups: Set<ClientGroup> { Set(regions.keys.map(\.group)) }

  func region(_ identifier: String, in group: ClientGroup) -> BeaconRegion? {
    regions[Key(group: group, identifier: identifier)]?.region
  }

  func snapshot(of identifier: String, in group: ClientGroup) -> RegionSnapshot? {
    let key = Key(group: group, identifier: identifier)
    guard let entry = regions[key], let status = engine.monitor.status(of: key.name) else {
      return nil
    }
    return RegionSnapshot(
      region: entry.region, status: status,
      // The offset to wall-clock time may have changed since, as by a suspend.
      since: entry.state?.since ?? status.since?.wallClockTime(wallClockOffset),
      beacons: entry.state?.beacons(of: entry.region.constraint, \.since) ?? [:])
  }

  func approach(to identifier: String, in group: ClientGroup) -> RegionApproach? {
    engine.monitor.approach(to: Key(group: group, identifier: identifier).name)
  }

  mutating func requestState(
    of region: BeaconRegion, in group: ClientGroup, for client: ClientIdentifier,
    isAvailable: Bool, into output: inout Output
  ) {
    guard isAvailable, status.isAuthorized, !hasEnded, receivers.fault == nil else {
      return output.deliver(.regionState(region, .unknown), to: client)
    }
    let key = Key(group: group, identifier: region.identifier)
    if regions[key] != nil {
      if engine.monitor.isDetermined(key.name), let state = engine.monitor.state(of: key.name) {
        output.deliver(.regionState(region, state), to: client)
      } else if asked[key]?.contains(client) != true {
        asked[key, default: []].append(client)
      }
      return
    }
    let isPending = owners.values.contains { owner in
      if case .question(client, region) = owner { true } else { false }
    }
    guard !isPending else { return }
    questions += 1
    let name = "q\(questions)"
    do throws(RegionError) {
      try engine.monitor.add(monitored(region, as: name))
      owners[name] = .question(client, region)
    } catch {
      output.deliver(.regionState(region, .unknown), to: client)
    }
  }

  /// Answers the requests that cannot be answered any more with an unknown state.
  private mutating func giveUpQuestions(into output: inout Output) {
    for (name, owner) in owners {
      guard case .question(let client, let region) = owner else { continue }
      engine.monitor.remove(name)
      owners[name] = nil
      output.deliver(.regionState(region, .unknown), to: client)
    }
    for (key, clients) in asked.sorted(by: { $0.key.name < $1.key.name }) {
      guard let region = regions[key]?.region else { continue }
      for client in clients { output.deliver(.regionState(region, .unknown), to: client) }
    }
    asked.removeAll()
  }

  private func monitored(_ region: BeaconRegion, as name: String) -> MonitoredRegion {
    MonitoredRegion(identifier: name, constraint: region.constraint, rules: region.rules ?? rules)
  }

  mutating func restore(_ stored: [StoredRegistration<Self>]) {
    for stored in stored {
      let key = Key(group: stored.group, identifier: stored.identifier)
      let region = stored.registration
      let monitored = monitored(region, as: key.name)
      var state = stored.state
      if !monitored.rules.reportsEachBeacon { state?.beacons = nil }
      do throws(RegionError) {
        try engine.monitor.add(
          monitored, assuming: state?.state == .unknown ? nil : state?.state,
          timeout: state?.exitTimeout, beacons: expected(state, of: region.constraint))
        owners[key.name] = .registration(key)
        regions[key] = Entry(region: region, state: state)
      } catch {
        continue
      }
    }
  }

  // MARK: Events

  private func deliver(_ sightings: ArraySlice<Sighting>, into output: inout Output) {
    guard !sightings.isEmpty else { return }
    for (client, needs) in needs where needs.areSightingsWanted {
      output.deliver(.sightings(Array(sightings)), to: client)
    }
  }

  /// A crossing of a region, or of one of its beacons, into a state.
  private struct Crossing: Hashable {
    let region: String
    let beacon: BeaconIdentity?
    let state: RegionState

    init(_ transition: RegionTransition) {
      (region, beacon) = (transition.region, transition.beacon)
      state = transition.change.state
    }
  }

  private mutating func deliverNews(into output: inout Output) {
    let news = engine.removeNews()
    var crossings: Set<Crossing> = []
    for case .region(let transition) in news where transition.change.isCrossing {
      crossings.insert(Crossing(transition))
    }
    for item in news {
      switch item {
      case .ranged(let time, let beacons): deliver(beacons, at: time, into: &output)
      case .region(let transition):
        // A determination adds nothing to a crossing into the same state.
        let isRepeated =
          !transition.change.isCrossing && crossings.contains(Crossing(transition))
        if !isRepeated { deliver(transition, into: &output) }
      case .identity(let finding):
        var groups: Set<ClientGroup> = []
        if case .severalSenders = finding.problem {
          for (key, entry) in regions where entry.region.constraint.matches(finding.beacon) {
            groups.insert(key.group)
          }
        }
        let clients = needs.filter { $0.value.filter.matches(finding.beacon) }.map(\.key)
        output.deliver(
          .identity(finding, at: finding.time.wallClockTime(wallClockOffset)), to: Set(clients),
          andGroups: groups)
      case .health(let change) where receivers.isKnown(change): break
      case .health(let change):
        output.deliverToAll(.health(change, at: change.time.wallClockTime(wallClockOffset)))
        if receivers.update(change) { giveUpQuestions(into: &output) }
      }
    }
  }

  private func deliver(
    _ beacons: [RangedBeacon], at time: MonotonicTime, into output: inout Output
  ) {
    for (client, needs) in needs where !needs.filter.isEmpty {
      let report = RangingReport(
        time: time, wallClockOffset: wallClockOffset,
        beacons: beacons.filter { needs.filter.matches($0.beacon) },
        requests: needs.ranged)
      output.deliver(.ranging(report), to: client)
    }
  }

  private mutating func deliver(_ transition: RegionTransition, into output: inout Output) {
    switch owners[transition.region] {
    case nil: break
    case .question(let client, let region):
      engine.monitor.remove(transition.region)
      owners[transition.region] = nil
      output.deliver(.regionState(region, transition.change.state), to: client)
    case .registration(let key):
      guard let region = regions[key]?.region else { return }
      asked[key] = nil
      let event = RegionEvent(
        region: region, transition: transition.renamed(key.identifier),
        wallClockOffset: wallClockOffset)
      var state = RegistrationState(
        state: transition.change.state, since: event.wallClockTime,
        exitTimeout: transition.reason.exitTimeout)
      if let beacon = transition.beacon {
        state = regions[key]?.state ?? RegistrationState(state: .outside)
        state.update(
          beacon, transition.change, at: event.wallClockTime,
          exitTimeout: transition.reason.exitTimeout)
      }
      regions[key]?.state = state
      output.deliver(.region(event), of: key.identifier, in: key.group, state: state)
    }
  }

  func reportReceivers(to client: ClientIdentifier, into output: inout Output) {
    for health in receivers.latest {
      output.deliver(.health(health, at: health.time.wallClockTime(wallClockOffset)), to: client)
    }
  }
}
