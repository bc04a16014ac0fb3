import DBusMessages
package import Scanning

/// The reception by bluetoothd: the adapters, and the receiver state as a whole.
package struct BlueZSession: ~Copyable, SourceSession {
  /// The availability, as far as it is known; `nil` before, and at rest.
  package private(set) var availability: ScannerAvailability?
  package var counts: ScanCounts { adverts.counts }

  private let configuration: LiveScanner.Configuration
  private var connection: BlueZConnection
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

  init(_ configuration: LiveScanner.Configuration, on address: BusAddress, limits: BusLimits) {
    self.configuration = configuration
    connection = BlueZConnection(address, limits: limits)
    adverts = BlueZAdverts(offsets: configuration.offsets)
    for name in configuration.adapters.targets { add(name) }
  }

  private mutating func add(_ name: AdapterName?) {
    links.append(BlueZAdapter(name, quietTimeout: configuration.quietNanoseconds))
  }

  // MARK: One call of the client

  package mutating func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into sightings: inout [Sighting]
  ) -> ScanProgress {
    let start = MonotonicTime.now
    let began = self.began ?? start
    self.began = began
    attempt(at: start) { session throws(BusError) in try session.connection.connect(at: start) }
    advance(demand, until: deadline, at: start)
    let isBusy = connection.isWaiting || links.contains(where: \.isBusy)
    var end = start.advanced(
      by: isBusy ? BlueZScanner.maximumReceiveTime : BlueZConnection.lifeInterval)
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
    if connection.checkAnswers(at: now) {
      report(.notAnswering, at: max(connection.latestMessage, reached ?? start))
    }
    // Sends at once what follows an answer.
    advance(demand, until: deadline, at: now)
    adverts.remove(into: &sightings)
    let health = removeHealth()
    let latest = connection.latestMessage
    let known = isAnswerNeeded ? max(latest, health.map(\.time).max() ?? latest) : now
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

  /// Ends the connection, with which bluetoothd drops its setup.
  package mutating func rest() {
    connection.end()
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
    connection.restartAnswerTimes(at: now)
    let seconds = now.nanoseconds(since: reached) / MonotonicTime.nanosecondsPerSecond
    for index in links.indices {
      links[index].receptionLost(
        from: reached, to: now, detail: "this process did not run for \(seconds) s")
    }
  }

  /// Whether silence means absence only up to bluetoothd's latest message, because it may hang.
  private var isAnswerNeeded: Bool { connection.isReady && obstacle == nil }

  private mutating func wait(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) -> [BusMessage] {
    do throws(BusError) {
      return try connection.receive(until: end, wakeSignal: wakeSignal, from: start)
    } catch {
      disconnect(error, at: MonotonicTime.now)
      return []
    }
  }

  // MARK: The connection

  /// Runs a body whose failure ends the connection.
  private mutating func attempt(
    at now: MonotonicTime, _ body: (inout BlueZSession) throws(BusError) -> Void
  ) {
    do throws(BusError) { try body(&self) } catch { disconnect(error, at: now) }
  }

  private mutating func disconnect(_ error: BusError, at now: MonotonicTime) {
    report(connection.disconnect(error, at: now), at: now)
    leave()
  }

  private mutating func leave() {
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

  // MARK: What is due

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
    try connection.checkLife(until: deadline, at: now)
    guard connection.isReady else { return }
    findMore()
    for index in links.indices {
      let others = Set(
        links.enumerated().filter { $0.offset != index && $0.element.path != nil }
          .compactMap(\.element.target.index))
      let free = adapters.filter { !others.contains($0.adapter.index) }
      let requests = links[index].advance(demand, adapters: free, at: now)
      guard let path = links[index].path else { continue }
      for request in requests { try connection.send(request, to: path, link: index, at: now) }
    }
  }

  private mutating func findMore() {
    guard configuration.adapters == .all else { return }
    for view in adapters where !links.contains(where: { $0.target.matches(view.adapter) }) {
      add(view.adapter.address.map { .address($0) } ?? .number(view.adapter.index))
    }
  }

  // MARK: What came

  private mutating func handle(_ message: BusMessage, at now: MonotonicTime) throws(BusError) {
    switch try connection.handle(message, at: now) {
    case nil: break
    case .lost(let obstacle):
      leave()
      if let obstacle { report(obstacle, at: now) }
    case .ready:
      adapters = BlueZAdapterView.all(in: connection.objects)
      obstacle = nil
      if adapters.isEmpty, links.isEmpty { reportMissing(at: now) }
    case .answer(let request, let index, let error):
      answered(request, of: index, error: error, at: now)
    case .call: try called(message, at: now)
    case .signal(let isAboutAdapters):
      if isAboutAdapters { adaptersChanged(at: now) }
      if let signal = BlueZDeviceSignal(message, in: connection.objects) {
        received(signal, at: now)
      }
    }
  }

  private mutating func reportMissing(at now: MonotonicTime) {
    let sentence = configuration.adapters.absence(among: [])
    availability = .unavailable(sentence)
    health.append(ScannerHealth(.removed, at: now, isReceptionLost: true, sentence: sentence))
  }

  private mutating func answered(
    _ request: BlueZRequest, of index: Int, error: BusError?, at now: MonotonicTime
  ) {
    switch request {
    case .registerMonitor:
      if let error, error.name != "org.bluez.Error.AlreadyExists" {
        links[index].monitorRefused()
      } else {
        links[index].monitorRegistered(at: now)
      }
    case .startDiscovery:
      guard let error else { return links[index].discoveryStarted(at: now) }
      // Either it was already requested, or the kernel still runs that of a killed bluetoothd.
      if error.name == "org.bluez.Error.InProgress" {
        return links[index].discoveryIsInProgress(at: now)
      }
      let condition: ScannerHealth.Condition =
        switch error.name {
        case BusError.Name.accessDenied, "org.bluez.Error.NotAuthorized": .notPermitted
        case "org.bluez.Error.NotReady": .down
        default: .refused
        }
      links[index].discoveryRefused(condition, detail: "\(error)", at: now)
    case .setFilter, .stopDiscovery: break
    }
  }

  /// Answers a call from bluetoothd to the objects of this process.
  private mutating func called(_ message: BusMessage, at now: MonotonicTime) throws(BusError) {
    guard let bus = connection.bus else { return }
    let index = links.firstIndex { link in
      guard let monitor = link.beaconMonitor else { return false }
      return message.path == monitor.path || message.path == monitor.root
    }
    guard let index, let monitor = links[index].beaconMonitor else {
      return try bus.replyError(
        to: message, name: BusError.Name.unknownObject, message: "there is no such object")
    }
    switch (message.interface, message.member) {
    case (_, "GetManagedObjects") where message.path == monitor.root:
      return try bus.reply(to: message, with: [monitor.objects])
    case (BlueZName.monitor, "Activate"): links[index].monitorActivated(at: now)
    case (BlueZName.monitor, "Release"): links[index].monitorReleased(at: now)
    case (BlueZName.monitor, "DeviceFound"):
      if links[index].countsMonitorCalls, let path = message.body.first?.asString,
        let device = connection.objects.objects[path]?[BlueZName.device]
      {
        links[index].received(at: now)
        // bluetoothd may show the signal strength of another advert.
        adverts.receive(device, at: path, rssi: nil, of: links[index].target, at: now)
      }
    case (BlueZName.monitor, "DeviceLost"): break
    default:
      return try bus.replyError(
        to: message, name: BusError.Name.unknownMethod, message: "there is no such method")
    }
    try bus.reply(to: message)
  }

  private mutating func adaptersChanged(at now: MonotonicTime) {
    adapters = BlueZAdapterView.all(in: connection.objects)
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
    guard obstacle == nil, connection.isReady, !links.isEmpty else { return }
    guard links.allSatisfy(\.isReceptionLost) else { return availability = .available }
    guard let link = links.first(where: { $0.state.condition != nil }),
      let condition = link.state.condition
    else { return }
    let sentence = BlueZSentence.of(
      condition, adapter: link.target.title, detail: link.state.detail)
    availability = ScannerAvailability(fault: condition, sentence)
  }
}
