import Positioning
import Scanning

/// The registered circles of all groups, and the circles whose state was requested.
struct LocationCircles {
  typealias Output = LocationMachine.Output

  private struct Circle {
    var group: ClientGroup
    var circle: MonitoredCircle
    /// Whether the circle is registered. Another one is monitored until its state is determined.
    var isRegistered = true
    var since: WallClockTime?
    /// The clients that requested the state before it was determined, once for each request.
    var waiting: [ClientIdentifier] = []
  }

  /// The maximum number of requests that wait for the state of one circle.
  static let maximumRequests = 1024

  private var circles: [String: Circle] = [:]
  private var monitor = GeofenceMonitor()
  private var requested: UInt64 = 0
  /// The end of the waiting requests for each circle; `nil` before the source's time is known.
  private var limits: [String: MonotonicTime?] = [:]

  /// Returns the request for fixes, given the latest fix's accuracy; `nil` without circles.
  mutating func request(accuracy: Double?) -> LocationRequest? {
    guard !circles.isEmpty else { return nil }
    // The receiver may be nearer to the boundary than the fix.
    return .boundary(meters: max(0, (monitor.nearestBoundary() ?? 0) - (accuracy ?? 0)))
  }

  /// The time of the next call of ``advance(to:_:into:)``, unless a fix comes before.
  var deadline: MonotonicTime? {
    (limits.values + [monitor.nextDeadline()]).compactMap { $0 }.min()
  }

  /// Returns a circle's name in the monitor. The length of the group's name keeps the parts apart.
  private static func name(_ identifier: String, _ group: ClientGroup) -> String {
    "\(group.name.utf8.count):\(group.name)\(identifier)"
  }

  static let storedPrefix = "circle:"

  private static func storedIdentifier(_ identifier: String) -> String { storedPrefix + identifier }

  // MARK: Registrations

  /// Monitors a circle, with the state that it has if its place and radius are the same.
  mutating func register(
    _ circle: MonitoredCircle, in group: ClientGroup, assuming state: GeofenceState?,
    for client: ClientIdentifier, into output: inout Output
  ) throws(GeofenceError) {
    let name = Self.name(circle.region.identifier, group)
    if circles[name]?.circle.region != circle.region {
      let replaced = circles[name]
      try add(circle, name, in: group, assuming: state ?? .unknown)
      endRequests(of: replaced, name, into: &output)
    }
    circles[name]?.circle = circle
    output.register(
      .circle(circle), as: Self.storedIdentifier(circle.region.identifier), in: group,
      state: stateToStore(name))
    output.deliver(.registered(circle), to: client)
  }

  mutating func restore(
    _ circle: MonitoredCircle, in group: ClientGroup, state: GeofenceState, since: WallClockTime?
  ) {
    let name = Self.name(circle.region.identifier, group)
    try? add(circle, name, in: group, assuming: state)
    circles[name]?.since = since
  }

  private mutating func add(
    _ circle: MonitoredCircle, _ name: String, in group: ClientGroup, assuming state: GeofenceState
  ) throws(GeofenceError) {
    let region = try CircularRegion(
      identifier: name, center: circle.region.center, radius: circle.region.radius)
    try monitor.add(region, assuming: state)
    circles[name] = Circle(group: group, circle: circle)
  }

  private func stateToStore(_ name: String) -> LocationMachine.RegistrationState? {
    guard let state = monitor.status(of: name)?.state, let since = circles[name]?.since else {
      return nil
    }
    return .circle(state, since: since)
  }

  mutating func unregister(_ identifier: String, in group: ClientGroup, into output: inout Output) {
    let name = Self.name(identifier, group)
    guard let circle = remove(name) else { return }
    endRequests(of: circle, name, into: &output)
    output.unregister(Self.storedIdentifier(identifier), in: group)
  }

  @discardableResult
  private mutating func remove(_ name: String) -> Circle? {
    monitor.remove(name)
    return circles.removeValue(forKey: name)
  }

  /// Removes the requests of a client; registered circles stay.
  mutating func remove(_ client: ClientIdentifier) {
    for name in limits.keys {
      circles[name]?.waiting.removeAll { $0 == client }
      guard let circle = circles[name], circle.waiting.isEmpty else { continue }
      limits[name] = nil
      if !circle.isRegistered { remove(name) }
    }
  }

  var groups: Set<ClientGroup> { Set(circles.values.filter(\.isRegistered).map(\.group)) }

  var registeredCount: Int { circles.values.count(where: \.isRegistered) }

  func registered(in group: ClientGroup) -> [MonitoredCircle] {
    circles.values.filter { $0.group == group && $0.isRegistered }.map(\.circle)
      .sorted { $0.region.identifier < $1.region.identifier }
  }

  func snapshot(of identifier: String, in group: ClientGroup) -> CircleSnapshot? {
    let name = Self.name(identifier, group)
    guard let circle = circles[name], let status = monitor.status(of: name) else { return nil }
    return CircleSnapshot(circle: circle.circle, state: status.state, since: circle.since)
  }

  // MARK: Requests for a state

  /// Delivers the state of a circle to a client when it is determined. With `isKnown`, an earlier
  /// state may be delivered; with `isPossible`, one can be determined.
  mutating func requestState(
    of region: CircularRegion, in group: ClientGroup, for client: ClientIdentifier,
    isKnown: Bool, isPossible: Bool, into output: inout Output
  ) {
    let registered = Self.name(region.identifier, group)
    let isRegistered = circles[registered]?.circle.region == region
    if isKnown, isRegistered, let status = monitor.status(of: registered), status.isDetermined {
      return output.deliver(.circleState(region, status.state), to: client)
    }
    guard isPossible,
      let name = isRegistered ? registered : requestedCircle(region, in: group),
      circles[name].map({ $0.waiting.count < Self.maximumRequests }) == true
    else { return output.deliver(.circleState(region, .unknown), to: client) }
    circles[name]?.waiting.append(client)
    if limits[name] == nil { limits[name] = .some(nil) }
  }

  /// Returns the name of a circle that is monitored only for requests; `nil` if there are too many.
  private mutating func requestedCircle(_ region: CircularRegion, in group: ClientGroup) -> String?
  {
    let pending = limits.keys.first { name in
      circles[name].map { !$0.isRegistered && $0.group == group && $0.circle.region == region }
        ?? false
    }
    if let pending { return pending }
    requested += 1
    let name = "?\(requested)"
    do throws(GeofenceError) {
      try add(MonitoredCircle(region), name, in: group, assuming: .unknown)
    } catch {
      return nil
    }
    circles[name]?.isRegistered = false
    return name
  }

  mutating func endRequests(into output: inout Output) {
    for name in limits.keys.sorted() { endRequests(of: name, into: &output) }
  }

  private mutating func endRequests(of name: String, into output: inout Output) {
    let circle = circles[name]
    circles[name]?.waiting = []
    if circle?.isRegistered == false { remove(name) }
    endRequests(of: circle, name, into: &output)
  }

  private mutating func endRequests(of circle: Circle?, _ name: String, into output: inout Output) {
    limits[name] = nil
    guard let circle else { return }
    for client in circle.waiting {
      output.deliver(.circleState(circle.circle.region, .unknown), to: client)
    }
  }

  // MARK: Fixes and time

  mutating func receive(_ fix: Fix, _ offset: WallClockOffset, into output: inout Output) {
    for transition in monitor.receive(fix) { deliver(transition, offset, into: &output) }
  }

  mutating func advance(
    to now: MonotonicTime, _ offset: WallClockOffset, into output: inout Output
  ) {
    for transition in monitor.advance(to: now) { deliver(transition, offset, into: &output) }
    for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
      guard let limit else {
        limits[name] = now.advanced(bySeconds: FixRequest.limit)
        continue
      }
      if now >= limit { endRequests(of: name, into: &output) }
    }
  }

  private mutating func deliver(
    _ transition: GeofenceTransition, _ offset: WallClockOffset, into output: inout Output
  ) {
    let name = transition.region
    guard let circle = circles[name] else { return }
    limits[name] = nil
    guard circle.isRegistered else {
      remove(name)
      for client in circle.waiting {
        output.deliver(.circleState(circle.circle.region, transition.change.state), to: client)
      }
      return
    }
    let event = CircleEvent(
      circle: circle.circle,
      transition: transition.renamed(circle.circle.region.identifier), wallClockOffset: offset)
    if transition.change.state != transition.previous || circle.since == nil {
      circles[name]?.since = event.wallClockTime
    }
    circles[name]?.waiting = []
    output.deliver(
      .circle(event), of: Self.storedIdentifier(circle.circle.region.identifier),
      in: circle.group, state: stateToStore(name))
  }
}
