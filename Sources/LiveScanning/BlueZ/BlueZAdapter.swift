import DBusMessages
import Scanning

/// An adapter that bluetoothd receives with: its setup in bluetoothd, and the receiver state.
struct BlueZAdapter {
  struct Change {
    var condition: ScannerHealth.Condition
    var time: MonotonicTime
    var detail: String?
    var isReceptionLost: Bool
  }

  /// The progress of a request to bluetoothd.
  enum Step: Hashable {
    case off
    /// It was sent, and is not answered yet.
    case requested
    case on
    /// It was refused, and will be sent again later.
    case refused
  }

  private(set) var target: AdapterTarget
  /// The object path, while the adapter is there.
  private(set) var path: String?
  private(set) var monitor = Step.off
  private(set) var discovery = Step.off
  private(set) var condition: ScannerHealth.Condition?
  private(set) var detail: String?
  var changes: [Change] = []

  private var hasMonitors = false
  /// Whether the monitor was on when adverts were last received.
  private var hadMonitor: Bool?
  /// Whether bluetoothd reports a discovery, and the time since which it should but does not.
  private var isDiscovering = false
  private var idleSince: MonotonicTime?
  private var goneSince: MonotonicTime?
  private var latestAdvert: MonotonicTime?
  private var nextTry: MonotonicTime?
  /// The time limit for the activation of a registered monitor.
  private var monitorLimit: MonotonicTime?
  private var backoff = Backoff.quick
  private let quietTimeout: Int64

  /// The nanoseconds after which another adapter replaces a missing one, if any may serve.
  private static let patience: Int64 = 5_000_000_000
  /// The nanoseconds that bluetoothd has to activate a registered monitor.
  private static let activationLimit: Int64 = 2_000_000_000
  /// More than bluetoothd's pause of five seconds between two discoveries of ten, in nanoseconds.
  private static let longestIdle: Int64 = 7_000_000_000

  init(_ name: AdapterName?, quietTimeout nanoseconds: Int64) {
    target = AdapterTarget(name)
    quietTimeout = nanoseconds
  }

  /// Whether adverts are received, all or only some.
  var isReceiving: Bool { monitor == .on || discovery == .on }

  /// Whether a request is due soon, or was not answered yet.
  var isBusy: Bool {
    nextTry != nil || monitor == .requested || discovery == .requested || discovery == .refused
      || idleSince != nil || isReceptionLost && path != nil
  }

  /// Whether nothing is received, or the state is unknown.
  var isReceptionLost: Bool { condition?.isFault ?? true }

  /// Whether the monitor's calls count: without a discovery, bluetoothd signals only changes.
  var countsMonitorCalls: Bool { discovery != .on || !isDiscovering }

  var countsSignals: Bool { monitor != .on || !countsMonitorCalls }

  var beaconMonitor: BeaconMonitor? { path.map(BeaconMonitor.init(adapter:)) }

  /// Returns whether a monitor began or ceased to report the adverts.
  mutating func changedRate() -> Bool {
    guard isReceiving else { return false }
    defer { hadMonitor = monitor == .on }
    return hadMonitor.map { $0 != (monitor == .on) } ?? false
  }

  // MARK: What is to be sent

  /// Adapts to the adapters that are there, and returns the requests to bluetoothd.
  mutating func advance(
    _ demand: ScanDemand, adapters: [BlueZAdapterView], at now: MonotonicTime
  ) -> [BlueZRequest] {
    guard let view = find(among: adapters, at: now) else { return [] }
    hasMonitors = view.hasMonitors
    guard view.adapter.isUp else {
      // Switching the adapter off ends its discovery, but not the monitor.
      discovery = .off
      report(
        view.adapter.block == nil ? .down : .blocked, since: now, detail: view.adapter.block?.detail
      )
      return []
    }
    if isReceiving, isReceptionLost { reportReceiving(since: now) }
    update(isDiscovering: view.isDiscovering, at: now)
    if isReceiving, let latestAdvert, now.nanoseconds(since: latestAdvert) >= quietTimeout {
      report(.quiet, since: latestAdvert, detail: "for \(quietTimeout / 1_000_000_000) s")
    }
    return requests(demand, at: now)
  }

  private mutating func find(among adapters: [BlueZAdapterView], at now: MonotonicTime)
    -> BlueZAdapterView?
  {
    guard let adapter = target.choose(among: adapters.map(\.adapter), isHeld: { _ in false }),
      let view = adapters.first(where: { $0.adapter.index == adapter.index })
    else {
      disconnect()
      let gone = goneSince ?? now
      goneSince = gone
      if now.nanoseconds(since: gone) >= Self.patience { target.forget() }
      report(.removed, since: now)
      return nil
    }
    goneSince = nil
    if target.found(adapter) || view.path != path { disconnect() }
    path = view.path
    return view
  }

  mutating func update(isDiscovering: Bool, at now: MonotonicTime) {
    self.isDiscovering = isDiscovering
    guard discovery == .on, !isDiscovering else {
      idleSince = nil
      return
    }
    let since = idleSince ?? now
    idleSince = since
    guard now.nanoseconds(since: since) >= Self.longestIdle else { return }
    // Another program's reset ended it, and bluetoothd has not resumed.
    idleSince = nil
    discovery = .off
    if monitor != .on { report(.stopped, since: since) }
  }

  /// Returns the next requests. The monitor comes first: a discovery that begins before it reports
  /// each advert only once for ten seconds.
  private mutating func requests(_ demand: ScanDemand, at now: MonotonicTime) -> [BlueZRequest] {
    guard let path, now >= nextTry ?? now else { return [] }
    nextTry = nil
    if hasMonitors, monitor == .off {
      monitor = .requested
      return [.registerMonitor(BeaconMonitor(adapter: path), adapter: path)]
    }
    if let monitorLimit, now >= monitorLimit { monitorRefused() }
    guard monitor != .requested else { return [] }
    let isWanted = demand > .monitoring || monitor != .on
    switch discovery {
    case .off, .refused:
      guard isWanted else { break }
      discovery = .requested
      return [.setFilter(adapter: path), .startDiscovery(adapter: path)]
    case .on:
      guard !isWanted else { break }
      discovery = .off
      return [.stopDiscovery(adapter: path)]
    case .requested: break
    }
    return []
  }

  // MARK: What bluetoothd answers

  /// Records that bluetoothd accepted the monitor, which it activates next.
  mutating func monitorRegistered(at now: MonotonicTime) {
    if monitor == .requested { monitorLimit = now.advanced(by: Self.activationLimit) }
  }

  mutating func monitorActivated(at now: MonotonicTime) {
    monitor = .on
    monitorLimit = nil
    reportReceiving(since: now)
  }

  mutating func monitorReleased(at now: MonotonicTime) {
    monitor = .off
    wait(at: now)
  }

  /// Records that bluetoothd refused the monitor, and so reports fewer adverts.
  mutating func monitorRefused() {
    monitor = .refused
    monitorLimit = nil
  }

  mutating func discoveryStarted(at now: MonotonicTime) {
    discovery = .on
    backoff.reset()
    reportReceiving(since: now)
  }

  mutating func discoveryIsInProgress(at now: MonotonicTime) {
    guard !isDiscovering else { return discoveryStarted(at: now) }
    discovery = .refused
    wait(at: now)
  }

  mutating func discoveryRefused(
    _ condition: ScannerHealth.Condition, detail: String, at now: MonotonicTime
  ) {
    discovery = .refused
    wait(at: now)
    if monitor != .on || condition == .notPermitted {
      report(condition, since: now, detail: detail)
    }
  }

  /// Forgets the setup, because the adapter or bluetoothd is gone.
  mutating func disconnect() {
    (path, monitor, discovery) = (nil, .off, .off)
    (nextTry, monitorLimit, idleSince, latestAdvert) = (nil, nil, nil, nil)
    backoff.reset()
  }

  /// Starts anew after bluetoothd was gone, so that the current state is reported.
  mutating func reset() {
    disconnect()
    condition = nil
  }

  mutating func received(at now: MonotonicTime) {
    latestAdvert = now
    if condition == .quiet { reportReceiving(since: now) }
  }

  private mutating func wait(at now: MonotonicTime) {
    nextTry = now.advanced(by: backoff.next())
  }

  private mutating func reportReceiving(since time: MonotonicTime) {
    latestAdvert = latestAdvert ?? time
    report(monitor == .on ? .scanning : .shared, since: time)
  }

  private mutating func report(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String? = nil
  ) {
    guard condition != self.condition else { return }
    (self.condition, self.detail) = (condition, detail)
    append(condition, since: time, detail: detail, isReceptionLost: condition.isFault)
  }

  /// Reports that adverts between two times were lost.
  mutating func receptionLost(from: MonotonicTime, to: MonotonicTime, detail: String) {
    guard !isReceptionLost, let condition else { return }
    append(.lossy, since: from, detail: detail, isReceptionLost: true)
    append(condition, since: to, detail: self.detail, isReceptionLost: false)
  }

  private mutating func append(
    _ condition: ScannerHealth.Condition, since time: MonotonicTime, detail: String?,
    isReceptionLost: Bool
  ) {
    changes.append(
      Change(
        condition: condition, time: time, detail: detail, isReceptionLost: isReceptionLost))
  }
}

enum BlueZRequest: Hashable {
  case registerMonitor(BeaconMonitor, adapter: String)
  case setFilter(adapter: String)
  case startDiscovery(adapter: String)
  case stopDiscovery(adapter: String)

  var message: BusMessage {
    switch self {
    case .registerMonitor(let monitor, let adapter):
      Self.call(
        "RegisterMonitor", of: BlueZName.monitorManager, at: adapter, .objectPath(monitor.root))
    case .setFilter(let adapter):
      Self.call(
        "SetDiscoveryFilter", of: BlueZName.adapter, at: adapter,
        .properties(["Transport": .string("le"), "DuplicateData": .boolean(true)]))
    case .startDiscovery(let adapter):
      Self.call("StartDiscovery", of: BlueZName.adapter, at: adapter)
    case .stopDiscovery(let adapter):
      Self.call("StopDiscovery", of: BlueZName.adapter, at: adapter)
    }
  }

  private static func call(
    _ member: String, of interface: String, at path: String, _ body: BusValue...
  ) -> BusMessage {
    var call = BusMessage(
      call: member, of: interface, at: path, to: BlueZName.service, body: body)
    call.startsService = false
    return call
  }
}
