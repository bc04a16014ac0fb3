import Positioning
import Regions

/// The requests of an application's clients that stay valid, for a daemon that starts again.
struct KeptCalls {
  struct Client {
    var group: ClientGroup
    var isReceiving: Bool
    var isReceivingStored: Bool
    var pacesRecordings: Bool
    fileprivate var ranged: Set<RangingRequest> = []
    fileprivate var wantsSightings = false
    fileprivate var updates: UpdateSettings?
    fileprivate var request: AccuracyClass?
    fileprivate var headings: LocationCall?

    init(_ group: ClientGroup, isReceiving: Bool, pacesRecordings: Bool) {
      self.group = group
      self.isReceiving = isReceiving
      self.isReceivingStored = isReceiving
      self.pacesRecordings = pacesRecordings
    }
  }

  /// What a group has registered.
  private struct Group {
    var regions: [String: BeaconRegion] = [:]
    var circles: [String: MonitoredCircle] = [:]
    var visits = false
    var significantChanges = false
    /// The changes that the daemon may not have stored yet, each with its number.
    var changes: [Registration: UInt64] = [:]
    /// What is known by an event alone. Another process may end it, so it is never repeated.
    var noted: Set<Registration> = []

    func has(_ registration: Registration) -> Bool {
      switch registration {
      case .region(let name): regions[name] != nil
      case .circle(let name): circles[name] != nil
      case .visits: visits
      case .significantChanges: significantChanges
      }
    }

    mutating func confirm(through number: UInt64) {
      changes = changes.filter { $0.value > number }
    }

    /// Returns the calls that repeat the changes, or everything that is registered.
    func calls(of client: ClientIdentifier, everything: Bool) -> [AppCall] {
      var repeated = changes
      if everything {
        let all =
          regions.keys.map(Registration.region) + circles.keys.map(Registration.circle)
          + [.visits, .significantChanges].filter(has)
        for registration in all where !noted.contains(registration) { repeated[registration] = 0 }
      }
      // In the order of their changes.
      return repeated.sorted { ($0.value, $0.key.name) < ($1.value, $1.key.name) }.map {
        switch $0.key {
        case .region(let name):
          .beacons(regions[name].map { .keep($0) } ?? .unregister(name), client)
        case .circle(let name):
          .location(circles[name].map { .keep($0) } ?? .unregister(name), client)
        case .visits: .location(visits ? .startVisits : .stopVisits, client)
        case .significantChanges:
          .location(
            significantChanges ? .startSignificantChanges : .stopSignificantChanges, client)
        }
      }
    }
  }

  /// A registration, which outlives the process in the daemon's database.
  private enum Registration: Hashable {
    case region(String)
    case circle(String)
    case visits
    case significantChanges

    var name: String {
      switch self {
      case .region(let name), .circle(let name): name
      case .visits, .significantChanges: ""
      }
    }
  }

  private(set) var clients: [ClientIdentifier: Client] = [:]
  private var groups: [ClientGroup: Group] = [:]
  var authorization: AuthorizationStatus?
  private var latestChange: UInt64 = 0

  mutating func add(_ client: Client, _ identifier: ClientIdentifier) {
    clients[identifier] = client
  }

  mutating func remove(_ identifier: ClientIdentifier) { clients[identifier] = nil }

  mutating func change(_ identifier: ClientIdentifier, _ change: (inout Client) -> Void) {
    if let index = clients.index(forKey: identifier) { change(&clients.values[index]) }
  }

  // MARK: Registrations

  /// Changes what a group has registered.
  private mutating func change(
    _ registration: Registration, of group: ClientGroup, _ change: (inout Group) -> Void
  ) {
    latestChange += 1
    change(&groups[group, default: Group()])
    groups[group]?.changes[registration] = latestChange
    groups[group]?.noted.remove(registration)
  }

  /// The number of the latest change of a registration that the daemon may not have stored; `nil`
  /// if all are stored.
  var unconfirmed: UInt64? {
    groups.values.contains { !$0.changes.isEmpty } ? latestChange : nil
  }

  /// Records that the daemon has stored the changes up to a number.
  mutating func confirm(through number: UInt64) {
    for index in groups.indices { groups.values[index].confirm(through: number) }
  }

  // MARK: Beacons

  mutating func keep(_ request: BeaconRequest, of identifier: ClientIdentifier) {
    guard let group = clients[identifier]?.group else { return }
    switch request {
    case .startRanging(let requests): change(identifier) { $0.ranged.formUnion(requests) }
    case .stopRanging(let request): change(identifier) { $0.ranged.remove(request) }
    case .startSightings: change(identifier) { $0.wantsSightings = true }
    case .stopSightings: change(identifier) { $0.wantsSightings = false }
    case .register(let region, _):
      change(.region(region.identifier), of: group) { $0.regions[region.identifier] = region }
    case .unregister(let name): change(.region(name), of: group) { $0.regions[name] = nil }
    case .reportReceiverStates: change(identifier) { $0.isReceiving = true }
    case .rangingRequests, .regions, .region, .snapshot, .approach, .requestState, .keep: break
    }
  }

  mutating func update(_ reply: BeaconReply, of identifier: ClientIdentifier) {
    guard case .regions(let regions) = reply, let group = clients[identifier]?.group else { return }
    groups[group, default: Group()].regions = Dictionary(
      regions.map { ($0.identifier, $0) }, uniquingKeysWith: { $1 })
    for region in regions { groups[group]?.noted.remove(.region(region.identifier)) }
  }

  /// Returns the reply while there is no daemon.
  func reply(to request: BeaconRequest, of identifier: ClientIdentifier) -> BeaconReply {
    let group = clients[identifier].flatMap { groups[$0.group] }
    switch request {
    case .rangingRequests: return .ranging(clients[identifier]?.ranged ?? [])
    case .regions:
      let regions = group.map { Array($0.regions.values) } ?? []
      return .regions(regions.sorted { $0.identifier < $1.identifier })
    case .region(let name): return .region(group?.regions[name])
    case .snapshot: return .snapshot(nil)
    case .approach: return .approach(nil)
    default: return .done
    }
  }

  // MARK: Locations

  mutating func keep(_ call: LocationCall, of identifier: ClientIdentifier) {
    guard let group = clients[identifier]?.group else { return }
    switch call {
    case .startUpdates(let settings):
      change(identifier) {
        $0.updates = settings
        $0.request = nil
      }
    case .changeUpdates(let settings):
      change(identifier) { if $0.updates != nil { $0.updates = settings } }
    case .stopUpdates: change(identifier) { $0.updates = nil }
    case .requestFix(let accuracy): change(identifier) { $0.request = accuracy }
    case .cancelRequest: change(identifier) { $0.request = nil }
    case .startHeadings: change(identifier) { $0.headings = call }
    case .stopHeadings: change(identifier) { $0.headings = nil }
    case .startVisits: change(.visits, of: group) { $0.visits = true }
    case .stopVisits: change(.visits, of: group) { $0.visits = false }
    case .startSignificantChanges:
      change(.significantChanges, of: group) { $0.significantChanges = true }
    case .stopSignificantChanges:
      change(.significantChanges, of: group) { $0.significantChanges = false }
    case .register(let circle, _):
      let name = circle.region.identifier
      change(.circle(name), of: group) { $0.circles[name] = circle }
    case .unregister(let name): change(.circle(name), of: group) { $0.circles[name] = nil }
    case .use, .allowDeferral, .disallowDeferral, .circles, .circle, .snapshot, .requestState,
      .keep, .latestHeading, .reportHealth:
      break
    }
  }

  mutating func update(_ reply: LocationReply, of identifier: ClientIdentifier) {
    guard case .circles(let circles) = reply, let group = clients[identifier]?.group else { return }
    groups[group, default: Group()].circles = Dictionary(
      circles.map { ($0.region.identifier, $0) }, uniquingKeysWith: { $1 })
    for circle in circles { groups[group]?.noted.remove(.circle(circle.region.identifier)) }
  }

  /// Records the meaning of an event: a request for one fix was answered, or an earlier process has
  /// registered something, unless this process has changed it.
  mutating func note(_ event: any ServiceEvent, of identifier: ClientIdentifier) {
    switch event {
    case LocationEvent.requestedFix, LocationEvent.requestTimedOut, LocationEvent.requestFailed:
      change(identifier) { $0.request = nil }
    case BeaconEvent.region(let event):
      let name = event.region.identifier
      note(.region(name), of: identifier) { $0.regions[name] = event.region }
    case LocationEvent.circle(let event):
      let name = event.circle.region.identifier
      note(.circle(name), of: identifier) { $0.circles[name] = event.circle }
    case LocationEvent.visit: note(.visits, of: identifier) { $0.visits = true }
    case LocationEvent.significantChange:
      note(.significantChanges, of: identifier) { $0.significantChanges = true }
    default: break
    }
  }

  private mutating func note(
    _ registration: Registration, of identifier: ClientIdentifier, _ note: (inout Group) -> Void
  ) {
    guard let group = clients[identifier]?.group else { return }
    if let known = groups[group] {
      let isOwn = known.has(registration) && !known.noted.contains(registration)
      guard known.changes[registration] == nil, !isOwn else { return }
    }
    note(&groups[group, default: Group()])
    groups[group]?.noted.insert(registration)
  }

  /// Returns the reply while there is no daemon.
  func reply(to call: LocationCall, of identifier: ClientIdentifier) -> LocationReply {
    let client = clients[identifier]
    let group = client.flatMap { groups[$0.group] }
    switch call {
    case .use:
      var use = LocationUse()
      use.updates = client?.updates
      use.isRequesting = client?.request != nil
      use.headings = client?.headings != nil
      use.visits = group?.visits ?? false
      use.significantChanges = group?.significantChanges ?? false
      return .use(use)
    case .circles:
      let circles = group.map { Array($0.circles.values) } ?? []
      return .circles(circles.sorted { $0.region.identifier < $1.region.identifier })
    case .circle(let name): return .circle(group?.circles[name])
    case .snapshot: return .snapshot(nil)
    case .latestHeading: return .heading(nil)
    default: return .done
    }
  }

  // MARK: A new connection

  /// Returns the messages that repeat the requests. The clients receive after the last of them.
  ///
  /// Of what is registered, they repeat the changes that the daemon may not have stored, or
  /// `everything` where the daemon has lost its data.
  func messages(everything: Bool, number: () -> UInt64) -> [AppMessage] {
    var messages: [AppMessage] = []
    func call(_ call: AppCall) { messages.append(.call(number(), call)) }
    if let authorization { call(.requestAuthorization(authorization)) }
    let sorted = clients.sorted { $0.key.rawValue < $1.key.rawValue }
    for (identifier, client) in sorted {
      messages.append(
        .addClient(
          identifier, group: client.group, isReceiving: false,
          pacesRecordings: client.pacesRecordings))
    }
    var restored: Set<ClientGroup> = []
    for (identifier, client) in sorted {
      if client.isReceiving { messages.append(.beginReceiving(identifier)) }
      if let group = groups[client.group], restored.insert(client.group).inserted {
        // A group of a process has ended with its connection.
        let everything = everything || client.group.endsWithClients
        for repeated in group.calls(of: identifier, everything: everything) { call(repeated) }
      }
      if !client.ranged.isEmpty { call(.beacons(.startRanging(client.ranged), identifier)) }
      if client.wantsSightings { call(.beacons(.startSightings, identifier)) }
      if let updates = client.updates { call(.location(.startUpdates(updates), identifier)) }
      if let request = client.request { call(.location(.requestFix(request), identifier)) }
      if let headings = client.headings { call(.location(headings, identifier)) }
      if client.isReceiving {
        call(.beacons(.reportReceiverStates, identifier))
        call(.location(.reportHealth, identifier))
      }
      if client.isReceivingStored { messages.append(.setReceiving(identifier, true)) }
    }
    return messages
  }
}
