import DBusMessages
import Scanning

struct BlueZAdapter {
  enum Step: Hashable {
    case off
    /// It was sent, and is not answered yet.
    case requested
    case on
    /// It was refused, and will be sent again later.
    case refused
  }

  private(set) var target: AdapterTarget
  private(set) var path: String?
  private(set) var monitor = Step.off
  private(set) var discovery = Step.off
  var state = ReportedState()

  private var hasMonitors = false
  private var hadMonitor: Bool?
  /// Whether bluetoothd reports a discovery, and the time since which it should but does not.
  private var isDiscovering = false
  private var idleSince: MonotonicTime?
  private var latestAdvert: MonotonicTime?
  private var nextTry: MonotonicTime?
  private var monitorLimit: MonotonicTime?
  private var backoff = Backoff.quick
  private let quietTimeout: Int64

  /// The nanoseconds that bluetoothd has to activate a registered monitor.
  private static let activationLimit: Int64 = 2_000_000_000
  /// More than bluetoothd's pause of five seconds between two discoveries of ten, in nanoseconds.
  private static let longestIdle: Int64 = 7_000_000_000

  init(_ name: AdapterName?, quietTimeout nanoseconds: Int64) {
    target = AdapterTarget(name)
    quietTimeout = nanoseconds
  }

  var isReceiving: Bool { monitor == .on || discovery == .on }

  var isBusy: Bool {
    nextTry != nil || monitor == .requested || discovery == .requested || discovery == .refused
      || idleSince != nil || isReceptionLost && path != nil
  }

  var isReceptionLost: Bool { state.condition?.isFault ?? true }

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

  mutating func advance(
    _ demand: ScanDemand, adapters: [BlueZAdapterView], at now: MonotonicTime
  ) -> [BlueZRequest] {
    guard let view = find(among: adapters, at: now) else { return [] }
    hasMonitors = view.hasMonitors
    guard view.adapter.isUp else {
      // Switching the adapter off ends its discovery, but not the monitor.
      discovery = .off
      state.report(view.adapter.offCondition, since: now, detail: view.adapter.block?.detail)
      return []
    }
    if isReceiving, isReceptionLost { reportReceiving(since: now) }
    update(isDiscovering: view.isDiscovering, at: now)
    if isReceiving, let latestAdvert, now.nanoseconds(since: latestAdvert) >= quietTimeout {
      state.report(.quiet, since: latestAdvert, detail: "for \(quietTimeout / 1_000_000_000) s")
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
      target.lost(at: now)
      state.report(.removed, since: now)
      return nil
    }
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
    if monitor != .on { state.report(.stopped, since: since) }
  }

  // The monitor comes first: a discovery that begins before it reports each advert only once for
  // ten seconds.
  private mutating func requests(_ demand: ScanDemand, at now: MonotonicTime) -> [BlueZRequest] {
    guard path != nil, now >= nextTry ?? now else { return [] }
    nextTry = nil
    if hasMonitors, monitor == .off {
      monitor = .requested
      return [.registerMonitor]
    }
    if let monitorLimit, now >= monitorLimit { monitorRefused() }
    guard monitor != .requested else { return [] }
    let isWanted = demand > .monitoring || monitor != .on
    switch discovery {
    case .off, .refused:
      guard isWanted else { break }
      discovery = .requested
      return [.setFilter, .startDiscovery]
    case .on:
      guard !isWanted else { break }
      discovery = .off
      return [.stopDiscovery]
    case .requested: break
    }
    return []
  }

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
      state.report(condition, since: now, detail: detail)
    }
  }

  mutating func disconnect() {
    path = nil
    monitor = .off
    discovery = .off
    nextTry = nil
    monitorLimit = nil
    idleSince = nil
    latestAdvert = nil
    backoff.reset()
  }

  /// Starts anew after bluetoothd was gone, so that the current state is reported.
  mutating func reset() {
    disconnect()
    state.forget()
  }

  mutating func received(at now: MonotonicTime) {
    latestAdvert = now
    if state.condition == .quiet { reportReceiving(since: now) }
  }

  private mutating func wait(at now: MonotonicTime) {
    nextTry = now.advanced(by: backoff.next())
  }

  private mutating func reportReceiving(since time: MonotonicTime) {
    latestAdvert = latestAdvert ?? time
    state.report(monitor == .on ? .scanning : .shared, since: time)
  }

  mutating func receptionLost(from: MonotonicTime, to: MonotonicTime, detail: String) {
    guard !isReceptionLost, let condition = state.condition else { return }
    let stateDetail = state.detail
    state.report(.lossy, since: from, detail: detail, isReceptionLost: true)
    state.report(condition, since: to, detail: stateDetail)
  }
}

/// A request to bluetoothd about an adapter, which is the name of a call.
enum BlueZRequest: String {
  case registerMonitor = "RegisterMonitor"
  case setFilter = "SetDiscoveryFilter"
  case startDiscovery = "StartDiscovery"
  case stopDiscovery = "StopDiscovery"

  func call(to adapter: String) -> BusMessage {
    let body: [BusValue] =
      switch self {
      case .registerMonitor: [.objectPath(BeaconMonitor(adapter: adapter).root)]
      case .setFilter:
        [.properties(["Transport": .string("le"), "DuplicateData": .boolean(true)])]
      case .startDiscovery, .stopDiscovery: []
      }
    return BusMessage(
      call: rawValue, of: self == .registerMonitor ? BlueZName.monitorManager : BlueZName.adapter,
      at: adapter, to: BlueZName.service, startsService: false, body: body)
  }
}
