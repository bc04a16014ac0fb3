import DBusMessages
import Glibc
package import Scanning

/// The reception by bluetoothd: the connection to it, the adapters, and the receiver state.
package struct BlueZSession: ~Copyable, SourceSession {
  package private(set) var availability: ScannerAvailability?
  package var counts: ScanCounts { adverts.counts }

  private enum Subject: Hashable {
    case owner, objects, life
    case request(BlueZRequest, link: Int)
  }

  private let configuration: LiveScanner.Configuration
  private var client: BusClient<Subject>
  /// The mirror of bluetoothd's objects, and whether it is complete.
  private var objects = ManagedObjects()
  private var isReady = false
  /// The time when bluetoothd last sent something, came or went.
  private var latestMessage = MonotonicTime(nanoseconds: 0)
  private var latestRead = MonotonicTime(nanoseconds: 0)
  private var adverts: BlueZAdverts
  private var adapters: [BlueZAdapterView] = []
  private var links: [BlueZAdapter] = []
  private var obstacle: BlueZView.Obstacle?
  /// The last report for each adapter, unless one for all followed.
  private var reported: [Int: ScannerHealth] = [:]
  private var health: [ScannerHealth] = []
  private var began: MonotonicTime?
  private var reached: MonotonicTime?
  /// The time when the last wait for messages ended.
  private var latestEnd: MonotonicTime?

  /// The longest time between two readings while the process runs.
  private static let longestPause = 3 * MonotonicTime.nanosecondsPerSecond
  private static let gathering: Int64 = 10_000_000
  /// The nanoseconds without a message after which bluetoothd is pinged, and for an answer.
  private static let lifeInterval: Int64 = 2_000_000_000
  private static let answerLimit: Int64 = 4_000_000_000

  init(_ configuration: LiveScanner.Configuration, on address: BusAddress, limits: BusLimits) {
    self.configuration = configuration
    client = BusClient(of: BlueZName.service, on: address, limits: limits)
    adverts = BlueZAdverts(offsets: configuration.offsets)
    for name in configuration.adapters.targets { add(name) }
  }

  private mutating func add(_ name: AdapterName?) {
    links.append(BlueZAdapter(name, quietTimeout: configuration.quietNanoseconds))
  }

  package mutating func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into sightings: inout [Sighting]
  ) -> ScanProgress {
    let start = MonotonicTime.now
    let began = self.began ?? start
    self.began = began
    attempt(at: start) { session throws(BusError) in try session.connect(at: start) }
    advance(demand, until: deadline, at: start)
    let isWaiting = client.bus == nil || !client.calls.isEmpty
    let isBusy = isWaiting || links.contains(where: \.isBusy)
    var end = start.advanced(by: isBusy ? BlueZScanner.maximumReceiveTime : Self.lifeInterval)
    // A deadline that has passed is reached when bluetoothd answers.
    if let deadline, deadline > start || !isAnswerNeeded || deadline <= reached ?? start {
      end = min(end, deadline)
    }
    let messages = wait(until: end, wakeSignal: wakeSignal, from: start)
    let now = MonotonicTime.now
    checkPause(from: start, to: max(end, start), at: now)
    for message in messages {
      attempt(at: now) { session throws(BusError) in try session.handle(message, at: now) }
    }
    checkAnswers(at: now, since: start)
    advance(demand, until: deadline, at: now)
    adverts.remove(into: &sightings)
    let health = removeHealth()
    let known =
      isAnswerNeeded ? max(latestMessage, health.map(\.time).max() ?? latestMessage) : now
    reached = max(known, reached ?? known)
    latestEnd = now
    updateAvailability()
    var progress = ScanProgress(
      began: began, reached: reached,
      wallClockOffset: WallClockOffset(from: MonotonicTime.now, to: WallClockTime.now),
      health: health)
    // With a monitor each advert is reported, and without one each beacon every ten seconds.
    for index in links.indices where links[index].changedRate() { progress.hasOtherReceiver = true }
    return progress
  }

  /// Ends the connection, with which bluetoothd drops its setup. The next one may follow at once.
  package mutating func rest() {
    client.disconnect()
    client.succeed()
    leave()
    availability = nil
    reached = nil
    latestEnd = nil
    obstacle = nil
    reported = [:]
  }

  /// Detects that this process, and perhaps the machine, did not run: adverts may be lost.
  private mutating func checkPause(
    from start: MonotonicTime, to end: MonotonicTime, at now: MonotonicTime
  ) {
    // Either before the wait from `start` to `end`, or in it.
    guard let reached, let latestEnd,
      max(start.nanoseconds(since: latestEnd), now.nanoseconds(since: end)) >= Self.longestPause
    else { return }
    for serial in client.calls.keys { client.calls[serial]?.sent = now }
    let seconds = now.nanoseconds(since: reached) / MonotonicTime.nanosecondsPerSecond
    for index in links.indices {
      links[index].receptionLost(
        from: reached, to: now, detail: "this process did not run for \(seconds) s")
    }
  }

  /// Whether silence means absence only up to bluetoothd's latest message, because it may hang.
  private var isAnswerNeeded: Bool { isReady && obstacle == nil }

  private mutating func wait(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) -> [BusMessage] {
    defer { wakeSignal.reset() }
    do throws(BusError) {
      guard let bus = client.bus else {
        return try client.receive(until: end, wakeSignal: wakeSignal)
      }
      let gather = min(
        Self.gathering - start.nanoseconds(since: latestRead), end.nanoseconds(since: start))
      if gather > 0 { usleep(UInt32(gather / 1000)) }
      let messages = try client.receive(until: end, wakeSignal: wakeSignal)
      // An answer with too many bytes ends the connection, and one with too many values is dropped.
      if bus.droppedMessages > 0, client.awaits({ $0 == .objects }) { throw .disconnected }
      if !messages.isEmpty { latestRead = MonotonicTime.now }
      return messages
    } catch {
      disconnect(error, at: MonotonicTime.now)
      return []
    }
  }

  // MARK: The connection

  private mutating func attempt(
    at now: MonotonicTime, _ body: (inout BlueZSession) throws(BusError) -> Void
  ) {
    do throws(BusError) { try body(&self) } catch { disconnect(error, at: now) }
  }

  private mutating func connect(at now: MonotonicTime) throws(BusError) {
    let rules = ManagedObjects.matches(service: BlueZName.service)
    guard try client.connect(at: now, matching: rules) else { return }
    try client.ask(.toBus("GetNameOwner", .string(BlueZName.service)), .owner, at: now)
  }

  private mutating func disconnect(_ error: BusError, at now: MonotonicTime) {
    let isTooLong = error == .disconnected && client.awaits { $0 == .objects }
    client.fail(at: now)
    leave()
    report(isTooLong ? .tooLong : BlueZView.Obstacle(error), at: now)
  }

  private mutating func leave() {
    isReady = false
    objects.reset([])
    adapters = []
    for index in links.indices { links[index].reset() }
  }

  private mutating func report(_ obstacle: BlueZView.Obstacle, at now: MonotonicTime) {
    guard obstacle != self.obstacle else { return }
    self.obstacle = obstacle
    reported = [:]
    availability = ScannerAvailability(fault: obstacle.condition, obstacle.sentence)
    health.append(
      ScannerHealth(
        obstacle.condition, at: now, isReceptionLost: true, sentence: obstacle.sentence))
  }

  private mutating func checkLife(
    until deadline: MonotonicTime?, at now: MonotonicTime
  ) throws(BusError) {
    guard client.owner != nil, !client.awaits({ $0 == .life }) else { return }
    let isDue = deadline.map { latestMessage < $0 && $0 <= now } ?? false
    guard isDue || now.nanoseconds(since: latestMessage) >= Self.lifeInterval else { return }
    try client.ask(.ping(BlueZName.service, startsService: false), .life, at: now)
  }

  private mutating func checkAnswers(at now: MonotonicTime, since start: MonotonicTime) {
    // Other messages may come before an answer, so the time counts from the latest one.
    let isMute = client.calls.values.contains { call in
      now.nanoseconds(since: max(call.sent, latestMessage)) >= Self.answerLimit
    }
    guard client.owner != nil, isMute else { return giveUpRequests(at: now) }
    report(.notAnswering, at: max(latestMessage, reached ?? start))
  }

  /// Takes requests without an answer for refused, so that they are sent again. If two clients start
  /// discoveries at the same time, bluetoothd never answers the first one.
  private mutating func giveUpRequests(at now: MonotonicTime) {
    for (serial, call) in client.calls
    where now.nanoseconds(since: call.sent) >= Self.answerLimit {
      guard case .request(let request, let index) = call.subject else { continue }
      client.calls[serial] = nil
      let detail = "\(request.rawValue) is not answered"
      switch request {
      case .registerMonitor: links[index].monitorRefused()
      case .startDiscovery: links[index].discoveryRefused(.refused, detail: detail, at: now)
      case .setFilter, .stopDiscovery: break
      }
    }
  }

  // MARK: Requests

  private mutating func advance(
    _ demand: ScanDemand, until deadline: MonotonicTime?, at now: MonotonicTime
  ) {
    attempt(at: now) { session throws(BusError) in
      try session.request(demand, until: deadline, at: now)
    }
  }

  private mutating func request(
    _ demand: ScanDemand, until deadline: MonotonicTime?, at now: MonotonicTime
  ) throws(BusError) {
    try checkLife(until: deadline, at: now)
    guard isReady else { return }
    findMore()
    for index in links.indices {
      let others = Set(
        links.enumerated().filter { $0.offset != index && $0.element.path != nil }
          .compactMap(\.element.target.index))
      let free = adapters.filter { !others.contains($0.adapter.index) }
      let requests = links[index].advance(demand, adapters: free, at: now)
      guard let path = links[index].path else { continue }
      for request in requests {
        try client.ask(request.call(to: path), .request(request, link: index), at: now)
      }
    }
  }

  private mutating func findMore() {
    guard configuration.adapters == .all else { return }
    for view in adapters where !links.contains(where: { $0.target.matches(view.adapter) }) {
      add(view.adapter.address.map { .address($0) } ?? .number(view.adapter.index))
    }
  }

  // MARK: Messages

  private mutating func handle(_ message: BusMessage, at now: MonotonicTime) throws(BusError) {
    let event = client.event(of: message)
    if let owner = client.owner, message.sender == owner {
      latestMessage = now
      if obstacle == .notAnswering, isReady {
        // The fate of the requests is unknown, so everything starts again with a new connection.
        client.disconnect()
        return leave()
      }
    }
    switch event {
    case .owner(let owner): try found(owner, at: now)
    case .answer(let subject): try answered(subject, by: message, at: now)
    case .service where message.kind == .call: try called(message, at: now)
    case .service:
      let changed = objects.apply(message)
      if isReady, changed.contains(BlueZName.adapter) || changed.contains(BlueZName.monitorManager)
      {
        adaptersChanged(at: now)
      }
      if let signal = BlueZDeviceSignal(message, in: objects) { received(signal, at: now) }
    case .other, nil: break
    }
  }

  private mutating func found(_ name: String?, at now: MonotonicTime) throws(BusError) {
    client.calls = [:]
    leave()
    objects.owner = name
    latestMessage = now
    guard name != nil else { return report(.notRunning, at: now) }
    try client.ask(ManagedObjects.request(to: BlueZName.service), .objects, at: now)
  }

  private mutating func answered(
    _ subject: Subject, by message: BusMessage, at now: MonotonicTime
  ) throws(BusError) {
    switch subject {
    case .owner:
      let owner = message.kind == .reply ? message.body.first?.asString : nil
      if let change = client.found(owner) { try found(change, at: now) }
    case .objects:
      if let error = message.error { throw error }
      objects.reset(message.body)
      isReady = true
      client.succeed()
      adapters = BlueZAdapterView.all(in: objects)
      obstacle = nil
      if adapters.isEmpty, links.isEmpty { reportMissing(at: now) }
    case .life: break
    case .request(.registerMonitor, let index):
      if let error = message.error, error.name != "org.bluez.Error.AlreadyExists" {
        links[index].monitorRefused()
      } else {
        links[index].monitorRegistered(at: now)
      }
    case .request(.startDiscovery, let index): started(index, message.error, at: now)
    case .request: break
    }
  }

  private mutating func started(_ index: Int, _ error: BusError?, at now: MonotonicTime) {
    guard let error else { return links[index].discoveryStarted(at: now) }
    let condition: ScannerHealth.Condition
    switch error.name {
    // Either it was already requested, or the kernel still runs that of a killed bluetoothd.
    case "org.bluez.Error.InProgress": return links[index].discoveryIsInProgress(at: now)
    case BusError.Name.accessDenied, "org.bluez.Error.NotAuthorized": condition = .notPermitted
    case "org.bluez.Error.NotReady": condition = .down
    default: condition = .refused
    }
    links[index].discoveryRefused(condition, detail: "\(error)", at: now)
  }

  private mutating func reportMissing(at now: MonotonicTime) {
    let sentence = configuration.adapters.absence(among: [])
    availability = .unavailable(sentence)
    health.append(ScannerHealth(.removed, at: now, isReceptionLost: true, sentence: sentence))
  }

  private mutating func called(_ message: BusMessage, at now: MonotonicTime) throws(BusError) {
    guard let bus = client.bus else { return }
    let index = links.firstIndex { link in
      guard let monitor = link.beaconMonitor else { return false }
      return message.path == monitor.path || message.path == monitor.root
    }
    guard let index, let monitor = links[index].beaconMonitor else {
      return try bus.reply(
        to: message, with: [.string("there is no such object")],
        errorName: BusError.Name.unknownObject)
    }
    switch (message.interface, message.member) {
    case (_, "GetManagedObjects") where message.path == monitor.root:
      return try bus.reply(to: message, with: [monitor.objects])
    case (BlueZName.monitor, "Activate"): links[index].monitorActivated(at: now)
    case (BlueZName.monitor, "Release"): links[index].monitorReleased(at: now)
    case (BlueZName.monitor, "DeviceFound"):
      if links[index].countsMonitorCalls, let path = message.body.first?.asString,
        let device = objects.objects[path]?[BlueZName.device]
      {
        links[index].received(at: now)
        // bluetoothd may show the signal strength of another advert.
        adverts.receive(device, at: path, rssi: nil, of: links[index].target, at: now)
      }
    case (BlueZName.monitor, "DeviceLost"): break
    default:
      return try bus.reply(
        to: message, with: [.string("there is no such method")],
        errorName: BusError.Name.unknownMethod)
    }
    try bus.reply(to: message)
  }

  private mutating func adaptersChanged(at now: MonotonicTime) {
    adapters = BlueZAdapterView.all(in: objects)
    for view in adapters {
      guard let index = links.firstIndex(where: { $0.path == view.path }) else { continue }
      links[index].update(isDiscovering: view.isDiscovering, at: now)
    }
  }

  private mutating func received(_ signal: BlueZDeviceSignal, at now: MonotonicTime) {
    let index = links.firstIndex { link in
      link.path.map { signal.path.hasPrefix($0 + "/") } ?? false
    }
    guard let index, links[index].countsSignals,
      signal.isAdvert(hasMonitor: links[index].monitor == .on)
    else { return }
    links[index].received(at: now)
    adverts.receive(
      signal.device, at: signal.path, rssi: signal.rssi, of: links[index].target, at: now)
  }

  // MARK: The receiver state

  /// Returns the changes since the last call, from the view of the whole scanner.
  private mutating func removeHealth() -> [ScannerHealth] {
    defer { health = [] }
    for index in links.indices {
      for change in links[index].state.removeChanges() where obstacle == nil {
        let target = links[index].target
        let isReceptionLost = links.indices.allSatisfy {
          $0 == index ? change.isReceptionLost : links[$0].isReceptionLost
        }
        // A state that was the last one reported is not reported again.
        if let last = reported[index], last.condition == change.condition,
          last.isReceptionLost == isReceptionLost, last.adapter == target.hostName
        {
          continue
        }
        let report = ScannerHealth(
          change.condition, at: max(change.time, began ?? change.time), adapter: target.hostName,
          address: target.address, isReceptionLost: isReceptionLost,
          sentence: BlueZSentence.of(
            change.condition, adapter: target.title, detail: change.detail))
        reported[index] = report
        health.append(report)
      }
    }
    return health
  }

  private mutating func updateAvailability() {
    guard obstacle == nil, isReady, !links.isEmpty else { return }
    guard links.allSatisfy(\.isReceptionLost) else { return availability = .available }
    guard let link = links.first(where: { $0.state.condition != nil }),
      let condition = link.state.condition
    else { return }
    let sentence = BlueZSentence.of(
      condition, adapter: link.target.title, detail: link.state.detail)
    availability = ScannerAvailability(fault: condition, sentence)
  }
}
