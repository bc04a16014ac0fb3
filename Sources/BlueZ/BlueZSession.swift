import Adapters
import Advertising
import DBusMessages
import Glibc
package import Scanning

/// What a scanner works with while it receives: a connection to the bus, and what bluetoothd shows there.
package struct BlueZSession: ~Copyable, AdapterReception {
  /// A call whose answer is awaited.
  private struct Call {
    enum Subject {
      case owner, objects, life
      case request(BlueZRequest, link: Int)
    }

    var subject: Subject
    var sent: MonotonicTime
  }

  /// Whether the adapters can be used, as far as is known; `nil` before, and at rest.
  package private(set) var availability: ScannerAvailability?
  package var counts: ScanCounts { collector.counts }

  private let configuration: ScanConfiguration
  private let address: BusAddress
  private var collector = SightingCollector()
  private var bus: BusConnection?
  private var nextConnection: MonotonicTime?
  private var backoff = Backoff.quick
  /// The unique name of bluetoothd; `nil` while it is not there.
  private var owner: String?
  /// bluetoothd's objects, once they are known.
  private var objects = ManagedObjects()
  private var hasObjects = false
  private var adapters: [BlueZAdapterView] = []
  private var links: [BlueZAdapter] = []
  private var calls: [UInt32: Call] = [:]
  /// What keeps the scanner from bluetoothd, as it was reported.
  private var obstacle: BlueZView.Obstacle?
  /// Whether bluetoothd has left calls unanswered.
  private var isMute = false
  /// What was reported of each adapter last, unless something was reported of all since.
  private var reported: [ScannerHealth?] = []
  private var health: [ScannerHealth] = []
  private var began: MonotonicTime?
  private var reached: MonotonicTime?
  /// When messages were waited for the last time.
  private var latestEnd: MonotonicTime?
  /// When bluetoothd sent something for the last time, and when messages were read for the last time.
  private var latestMessage = MonotonicTime(nanoseconds: 0)
  private var latestRead = MonotonicTime(nanoseconds: 0)

  /// Messages that come faster than this are read together.
  private static let gathering: Int64 = 10_000_000
  /// After how long without a message bluetoothd is asked whether it is alive, and how long an answer may take.
  private static let lifeInterval: Int64 = 2_000_000_000
  private static let answerLimit: Int64 = 4_000_000_000
  /// The longest time between two readings of a process that runs.
  private static let longestPause = 3 * MonotonicTime.nanosecondsPerSecond
  /// The most bytes of an advert's data that one AD structure can have.
  private static let maximumData = 252

  init(_ configuration: ScanConfiguration, on address: BusAddress) {
    (self.configuration, self.address) = (configuration, address)
    switch configuration.adapters {
    case .firstUsable: add(nil)
    case .all: break
    case .these(let names): for name in names { add(name) }
    }
  }

  private mutating func add(_ name: AdapterName?) {
    guard name == nil || !links.contains(where: { $0.target.name == name }) else { return }
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
    connect(at: start)
    advance(demand, until: deadline, at: start)
    var end = start.advanced(by: isBusy ? BlueZScanner.maximumReceiveTime : Self.lifeInterval)
    // A moment that has come is reached when bluetoothd answers.
    if let deadline, deadline > start || !isAnswerNeeded || deadline <= reached ?? start {
      end = min(end, deadline)
    }
    let messages = wait(until: end, wakeSignal: wakeSignal, from: start)
    let now = MonotonicTime.now
    checkPause(from: start, to: max(end, start), at: now)
    collector.removeSightings()
    for message in messages { handle(message, at: now) }
    // What follows an answer is sent at once.
    advance(demand, until: deadline, at: now)
    swap(&collector.sightings, &sightings)
    let health = removeHealth()
    let known = isAnswerNeeded ? max(latestMessage, health.map(\.time).max() ?? latestMessage) : now
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

  /// Ends the connection: bluetoothd drops what was set up by it.
  package mutating func rest() {
    bus?.close()
    lost()
    (availability, nextConnection, reached, latestEnd) = (nil, nil, nil, nil)
    backoff.reset()
  }

  /// Notices that this process did not run for a while, nor perhaps the machine: what was on air is not known.
  private mutating func checkPause(
    from start: MonotonicTime, to end: MonotonicTime, at now: MonotonicTime
  ) {
    // Either before the wait from start to end, or in it.
    guard let reached, let latestEnd,
      max(start.nanoseconds(since: latestEnd), now.nanoseconds(since: end)) >= Self.longestPause
    else { return }
    let seconds = now.nanoseconds(since: reached) / MonotonicTime.nanosecondsPerSecond
    for index in links.indices {
      links[index].receptionLost(
        from: reached, to: now, detail: "this process did not run for \(seconds) s")
    }
  }

  /// Whether silence is absence only up to the moment of bluetoothd's latest message: it may stand still.
  private var isAnswerNeeded: Bool { hasObjects && obstacle == nil }

  /// Whether something is to be done soon, whatever comes.
  private var isBusy: Bool {
    bus == nil || !calls.isEmpty || links.contains(where: \.isBusy)
  }

  /// Waits for messages until a moment, or until it is woken.
  private mutating func wait(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) -> [BusMessage] {
    defer { wakeSignal.reset() }
    guard let bus else {
      wakeSignal.wait(nanoseconds: end.nanoseconds(since: start))
      return []
    }
    let gather = min(
      Self.gathering - start.nanoseconds(since: latestRead), end.nanoseconds(since: start))
    if gather > 0 { usleep(UInt32(gather / 1000)) }
    do throws(BusError) {
      let left = max(0, end.nanoseconds(since: MonotonicTime.now))
      let other = wakeSignal.descriptor >= 0 ? wakeSignal.descriptor : nil
      let messages = try bus.receive(waitingAtMost: left, orUntil: other)
      // An answer that has too many bytes ends the connection, and one that has too many values is dropped.
      if bus.droppedMessages > 0, awaitsObjects { throw .disconnected }
      if !messages.isEmpty { latestRead = MonotonicTime.now }
      return messages
    } catch {
      disconnect(error, at: MonotonicTime.now)
      return []
    }
  }

  // MARK: The connection

  private mutating func connect(at now: MonotonicTime) {
    guard bus == nil, now >= nextConnection ?? now else { return }
    do throws(BusError) {
      let bus = try BusConnection(address, timeout: MonotonicTime.nanosecondsPerSecond)
      self.bus = bus
      // The rules come first, so that no change is missed.
      let rules = ManagedObjects.matches(service: BlueZName.service)
      for rule in rules + [.owner(of: BlueZName.service)] {
        _ = try bus.send(.toBus("AddMatch", .string(rule.text)))
      }
      try ask(.toBus("GetNameOwner", .string(BlueZName.service)), .owner, at: now)
    } catch {
      disconnect(error, at: now)
    }
  }

  private mutating func disconnect(_ error: BusError, at now: MonotonicTime) {
    let obstacle =
      error == .disconnected && awaitsObjects ? .tooLong : BlueZView.Obstacle(error)
    bus?.close()
    nextConnection = now.advanced(by: backoff.next())
    lost()
    report(obstacle, at: now)
  }

  /// Whether the list of bluetoothd's objects was asked for and did not come.
  private var awaitsObjects: Bool {
    calls.values.contains { if case .objects = $0.subject { true } else { false } }
  }

  /// Forgets the connection.
  private mutating func lost() {
    bus = nil
    calls = [:]
    isMute = false
    leave()
  }

  /// Forgets bluetoothd.
  private mutating func leave() {
    (owner, hasObjects, adapters) = (nil, false, [])
    _ = objects.removeAll()
    for index in links.indices { links[index].reset() }
  }

  private mutating func ask(
    _ message: BusMessage, _ subject: Call.Subject, at now: MonotonicTime
  ) throws(BusError) {
    guard let bus else { return }
    calls[try bus.send(message)] = Call(subject: subject, sent: now)
  }

  /// Records that bluetoothd is there, or is not.
  private mutating func found(_ name: String?, at now: MonotonicTime) throws(BusError) {
    guard name != owner || name == nil else { return }
    leave()
    owner = name
    objects.owner = name
    latestMessage = now
    guard name != nil else { return report(.notRunning, at: now) }
    try ask(.objects, .objects, at: now)
  }

  private mutating func report(_ obstacle: BlueZView.Obstacle, at now: MonotonicTime) {
    guard obstacle != self.obstacle else { return }
    self.obstacle = obstacle
    reported = []
    let isNotPermitted = obstacle.condition == .notPermitted
    availability =
      isNotPermitted ? .notPermitted(obstacle.sentence) : .unavailable(obstacle.sentence)
    health.append(
      ScannerHealth(
        obstacle.condition, at: now, isReceptionLost: true, sentence: obstacle.sentence))
  }

  // MARK: What is due

  private mutating func advance(
    _ demand: ScanDemand, until deadline: MonotonicTime?, at now: MonotonicTime
  ) {
    guard owner != nil else { return }
    do throws(BusError) {
      try checkLife(until: deadline, at: now)
      guard hasObjects else { return }
      findMore()
      for index in links.indices {
        let others = Set(
          links.enumerated().filter { $0.offset != index && $0.element.path != nil }
            .compactMap(\.element.target.index))
        let free = adapters.filter { !others.contains($0.adapter.index) }
        for request in links[index].advance(demand, adapters: free, at: now) {
          try ask(request.message, .request(request, link: index), at: now)
        }
      }
    } catch {
      disconnect(error, at: now)
    }
  }

  /// Adds the adapters that came, where all are requested.
  private mutating func findMore() {
    guard configuration.adapters == .all else { return }
    for view in adapters where !links.contains(where: { $0.target.matches(view.adapter) }) {
      add(view.adapter.address.map { .address($0) } ?? .number(view.adapter.index))
    }
  }

  /// Asks bluetoothd whether it is alive where it sends nothing or something is due, and notices where it does not answer.
  private mutating func checkLife(
    until deadline: MonotonicTime?, at now: MonotonicTime
  ) throws(BusError) {
    let isDue = deadline.map { latestMessage < $0 && $0 <= now } ?? false
    if let oldest = calls.values.map(\.sent).min(), latestMessage < oldest,
      now.nanoseconds(since: oldest) >= Self.answerLimit
    {
      isMute = true
      report(.notAnswering, at: latestMessage)
    } else if calls.isEmpty, isDue || now.nanoseconds(since: latestMessage) >= Self.lifeInterval {
      var call = BusMessage(
        call: "Ping", of: "org.freedesktop.DBus.Peer", at: "/", to: BlueZName.service)
      call.startsService = false
      try ask(call, .life, at: now)
    }
  }

  // MARK: What came

  private mutating func handle(_ message: BusMessage, at now: MonotonicTime) {
    guard bus != nil else { return }
    do throws(BusError) {
      if let change = message.ownerChange, change.name == BlueZName.service {
        return try found(change.owner, at: now)
      }
      switch message.kind {
      case .reply, .error:
        guard let call = calls.removeValue(forKey: message.replySerial) else { return }
        if message.sender == owner { received(at: now) }
        try answered(call, by: message, at: now)
      case .call where message.sender == owner:
        received(at: now)
        try called(message, at: now)
      case .signal where message.sender == owner:
        received(at: now)
        handle(signal: message, at: now)
      default: break
      }
    } catch {
      disconnect(error, at: now)
    }
  }

  /// Records that bluetoothd sent something. If it was mute, everything begins anew with another connection.
  private mutating func received(at now: MonotonicTime) {
    latestMessage = now
    guard isMute else { return }
    bus?.close()
    lost()
    nextConnection = now
  }

  private mutating func answered(
    _ call: Call, by message: BusMessage, at now: MonotonicTime
  ) throws(BusError) {
    switch call.subject {
    case .owner:
      let name = message.kind == .reply ? message.body.first?.asString : nil
      try found(name, at: now)
    case .objects:
      if let error = message.error { return report(BlueZView.Obstacle(error), at: now) }
      _ = objects.reset(message.body)
      hasObjects = true
      adapters = BlueZAdapterView.all(in: objects)
      obstacle = nil
      backoff.reset()
      if adapters.isEmpty, links.isEmpty { reportMissing(at: now) }
    case .life: break
    case .request(let request, let index):
      answered(request, of: index, error: message.error, at: now)
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
      // Either it was requested already, or the kernel is still busy with that of a bluetoothd that was killed.
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

  /// Answers a call of bluetoothd's to the objects of this process.
  private mutating func called(_ message: BusMessage, at now: MonotonicTime) throws(BusError) {
    guard let bus else { return }
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
        let device = objects.objects[path]?[BlueZName.device]
      {
        // The signal strength that bluetoothd shows may be that of another advert.
        received(device, at: path, rssi: nil, link: index, at: now)
      }
    case (BlueZName.monitor, "DeviceLost"): break
    default:
      return try bus.replyError(
        to: message, name: BusError.Name.unknownMethod, message: "there is no such method")
    }
    try bus.reply(to: message)
  }

  private mutating func handle(signal message: BusMessage, at now: MonotonicTime) {
    let changes = objects.apply(message)
    let isAboutAdapters = changes.contains { change in
      switch change {
      case .added(_, let name), .changed(_, let name, _, _), .removed(_, let name):
        name == BlueZName.adapter || name == BlueZName.monitorManager
      }
    }
    if isAboutAdapters, hasObjects {
      adapters = BlueZAdapterView.all(in: objects)
      for view in adapters {
        guard let index = links.firstIndex(where: { $0.path == view.path }) else { continue }
        links[index].update(isDiscovering: view.isDiscovering, at: now)
      }
    }

    // An unchanged advert is no change of an object, and an advert all the same.
    let path: String?
    let properties: ManagedObjects.Properties?
    if message.member == "PropertiesChanged", message.body.count == 3,
      message.body[0].asString == BlueZName.device
    {
      (path, properties) = (message.path, message.body[1].asProperties)
    } else if message.member == "InterfacesAdded", message.body.count == 2 {
      path = message.body[0].asString
      properties = path.flatMap { objects.objects[$0]?[BlueZName.device] }
    } else {
      return
    }
    guard let path, let properties,
      let index = links.firstIndex(where: { link in
        link.path.map { path.hasPrefix($0 + "/") } ?? false
      }), links[index].countsSignals
    else { return }
    // Where each advert is signaled, one without manufacturer-specific data is another kind of advert.
    let isAdvert =
      links[index].monitor == .on
      ? properties["ManufacturerData"] != nil : properties["RSSI"] != nil
    guard isAdvert else { return }
    let device = objects.objects[path]?[BlueZName.device] ?? properties
    let rssi = (properties["RSSI"] ?? device["RSSI"])?.asInt
    received(
      device, at: path,
      rssi: rssi.flatMap { Int8(exactly: $0) }.flatMap(AdvertisingReport.rssi(hci:)), link: index,
      at: now)
  }

  /// Receives the advert that a device's properties show, if it is one of Apple's.
  private mutating func received(
    _ device: ManagedObjects.Properties, at path: String, rssi: Int8?, link index: Int,
    at now: MonotonicTime
  ) {
    collector.counts.packets &+= 1
    guard let adapter = links[index].target.index else { return }
    links[index].received(at: now)
    let entries = device["ManufacturerData"]?.asEntries ?? []
    guard let data = entries.first(where: { $0.key.asInt == 0x004C })?.value.unwrapped.asBytes,
      data.count <= Self.maximumData
    else { return }
    collector.counts.advertisingPackets &+= 1
    collector.adapter = adapter
    collector.time = now
    collector.wallTime = WallClockTime.now
    let structure = [UInt8(data.count + 3), 0xFF, 0x4C, 0x00] + data
    let first = collector.sightings.count
    // The bytes are initialized integers, which stay until the call returns.
    unsafe collector.receive(
      AdvertisingReport(
        data: structure.span.bytes, address: Self.address(of: device, at: path),
        addressType: device["AddressType"]?.asString == "public" ? .public : .random,
        eventType: .advNonconnInd, rssi: rssi))
    let offset = configuration.offsets.last { links[index].target.matches($0.adapter) }
    guard let offset else { return }
    for place in first..<collector.sightings.count {
      collector.sightings[place].subtract(offset: offset.decibels)
    }
  }

  /// The address of a device; the last part of its path is `dev_AA_BB_CC_DD_EE_FF`.
  private static func address(
    of device: ManagedObjects.Properties, at path: String
  ) -> BluetoothAddress {
    let text =
      device["Address"]?.asString
      ?? String(path.suffix(17)).split(separator: "_").joined(separator: ":")
    return BluetoothAddress(text) ?? BluetoothAddress(rawValue: 0)
  }

  // MARK: The receiver state

  /// Returns the changes since the last call, as those of the scanner as a whole.
  private mutating func removeHealth() -> [ScannerHealth] {
    defer { health = [] }
    guard obstacle == nil else {
      for index in links.indices { links[index].changes = [] }
      return health
    }
    for index in links.indices {
      for change in links[index].changes {
        let others = links.indices.filter { $0 != index }
        report(
          ScannerHealth(
            change.condition, at: max(change.time, began ?? change.time),
            adapter: links[index].target.hostName, address: links[index].target.address,
            isReceptionLost: change.isReceptionLost
              && others.allSatisfy { links[$0].isReceptionLost },
            sentence: BlueZSentence.of(
              change.condition, adapter: links[index].target.title, detail: change.detail)),
          of: index)
      }
      links[index].changes = []
    }
    return health
  }

  /// Reports the state of an adapter, unless it is the one that was reported last: that held, also over a rest.
  private mutating func report(_ change: ScannerHealth, of index: Int) {
    while reported.count <= index { reported.append(nil) }
    let last = reported[index]
    if let last, last.condition == change.condition,
      last.isReceptionLost == change.isReceptionLost, last.adapter == change.adapter
    {
      return
    }
    reported[index] = change
    health.append(change)
  }

  private mutating func updateAvailability() {
    guard obstacle == nil, hasObjects, !links.isEmpty else { return }
    guard links.allSatisfy(\.isReceptionLost) else { return availability = .available }
    let known = links.compactMap { link in link.condition.map { ($0, link) } }
    guard let (condition, link) = known.first else { return }
    let sentence = BlueZSentence.of(
      condition, adapter: link.target.title, detail: link.detail)
    availability =
      condition == .notPermitted ? .notPermitted(sentence) : .unavailable(sentence)
  }
}
