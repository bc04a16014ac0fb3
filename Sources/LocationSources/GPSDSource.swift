import Bytes
package import Positioning
package import Scanning

/// A location source that uses gpsd's JSON protocol.
///
/// It follows the first receiver with a fix, until that one is removed or has had none for five
/// seconds. To let gpsd close the receiver, it disconnects while no fix is needed, and between
/// fixes if the interval is ``GPSDSession/pauseInterval`` or more.
package typealias GPSDSource = LiveSource<GPSDSession>

extension GPSDSource {
  package convenience init(_ address: GPSDAddress = .local) {
    self.init("gpsd at \(address)", GPSDSession(address)) { GPSDSession.availability(of: address) }
  }
}

package struct GPSDSession: ~Copyable, LocationSession {
  package static var mayHaveCompass: Bool { true }

  package var report = LocationReport()
  /// The number of lines that were too long or not JSON.
  private(set) var badLines = 0

  private let address: GPSDAddress
  private var socket: StreamSocket?
  private var isConnected = false
  private var hasVersion = false
  private var attempts = 0
  private var nextAttempt: MonotonicTime?
  private var backoff = Backoff.quick
  private var lines = LineBuffer()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// The time of the latest message, or of the connection attempt.
  private var latestMessage = MonotonicTime(nanoseconds: 0)
  private var connected = MonotonicTime(nanoseconds: 0)
  private var isLifeRequested = false

  private var receivers: [String: Receiver] = [:]
  /// The latest refusal, such as to open a receiver.
  private var refusal: String?
  /// The time to report a receiver that sends nothing; `nil` after any report.
  private var searchDue: MonotonicTime?
  private var followed: String?
  /// The latest new fix, and the time of its arrival.
  private var latestFix: (time: MonotonicTime, fix: Fix)?
  private var delivered: MonotonicTime?
  private var answeredRequests: UInt64 = 0

  private struct Receiver {
    var hdop: Double?
    var visible: Int?
    var declination: Double?
    /// The number of reports without a fix since the latest one with a fix.
    var misses = 0
  }

  /// The shortest interval between fixes, in seconds, at which the connection ends between them.
  package static let pauseInterval = 30.0
  /// The time without a message before a sign of life is requested, and the time limit for it.
  private static let lifeInterval = 5 * MonotonicTime.nanosecondsPerSecond
  /// The time without a message from receivers before that is reported.
  private static let searchTime = 3 * MonotonicTime.nanosecondsPerSecond
  /// The time without a new fix, after earlier ones, before that is reported.
  private static let silenceTime = 15 * MonotonicTime.nanosecondsPerSecond
  /// The time without a fix after which another receiver is followed.
  private static let followTime = 5 * MonotonicTime.nanosecondsPerSecond
  private static let maximumReceivers = 64

  init(_ address: GPSDAddress) { self.address = address }

  /// Returns the availability of a gpsd, within a tenth of a second after resolving its address.
  static func availability(of address: GPSDAddress) -> ScannerAvailability {
    do throws(StreamSocket.Failure) {
      let socket = try StreamSocket.connecting(to: address, attempt: 0)
      let limit = MonotonicTime.nanosecondsPerSecond / 10
      let isReady = socket.wait(nanoseconds: limit, forWriting: true, or: -1)
      let error = isReady ? socket.connectionError : "it does not answer"
      return error.map { .unavailable(absence(address, $0)) } ?? .available
    } catch {
      return .unavailable(absence(address, error.sentence))
    }
  }

  private static func absence(_ address: GPSDAddress, _ detail: String) -> String {
    let remedy =
      address.isLocal
      ? "start it: sudo systemctl start gpsd.socket"
      : "check the name and the port, and that gpsd there listens for other machines: gpsd -G"
    return "no gpsd answers at \(address) (\(detail)); \(remedy)"
  }

  package mutating func rest() {
    disconnect(nextAttempt: nil)
    backoff.reset()
    latestFix = nil
    delivered = nil
    report.reset()
  }

  // MARK: The connection

  package mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput]
  ) {
    defer { wakeSignal.reset() }
    var now = MonotonicTime.now
    pause(for: demand, at: now)
    connect(at: now)
    var end = end
    if let nextAttempt, socket == nil { end = min(end, nextAttempt) }
    if let searchDue { end = min(end, searchDue) }
    let left = end.nanoseconds(since: now)
    let isReady =
      socket?.wait(
        nanoseconds: left, forWriting: !isConnected, or: wakeSignal.descriptor)
    guard let isReady else { return wakeSignal.wait(nanoseconds: left) }
    now = MonotonicTime.now
    if isReady, !isConnected { finishConnection(at: now) }
    if isReady, isConnected { read(for: demand, at: now, into: &inputs) }
    checkLife(at: now)
    checkNews(at: now)
    if let searchDue, now >= searchDue { search(nil) }
  }

  static func pauses(for demand: LocationDemand) -> Bool {
    (demand.fixes?.interval ?? 0) >= pauseInterval && !demand.needsHeading
  }

  private mutating func pause(for demand: LocationDemand, at now: MonotonicTime) {
    guard let fixes = demand.fixes, Self.pauses(for: demand), fixes.requests == answeredRequests
    else {
      // A shorter interval or a request for one fix ends a pause.
      if socket == nil, delivered != nil, let due = nextAttempt, due > now, backoff.isFresh {
        nextAttempt = now
      }
      return
    }
    guard socket != nil, let delivered else { return }
    let due = delivered.advanced(by: Int64(min(fixes.interval, 1e6) * 1e9))
    if now < due { disconnect(nextAttempt: due) }
  }

  private mutating func connect(at now: MonotonicTime) {
    guard socket == nil, now >= nextAttempt ?? now else { return }
    attempts &+= 1
    do throws(StreamSocket.Failure) {
      socket = try StreamSocket.connecting(to: address, attempt: attempts & 0xFFFF)
      latestMessage = now
    } catch {
      lose(.notRunning, Self.absence(address, error.sentence), at: now)
    }
  }

  private mutating func finishConnection(at now: MonotonicTime) {
    if let error = socket?.connectionError {
      return lose(.notRunning, Self.absence(address, error), at: now)
    }
    isConnected = true
    latestMessage = now
    connected = now
    request(#"?WATCH={"enable":true,"json":true};"#, at: now)
  }

  private mutating func request(_ text: String, at now: MonotonicTime) {
    guard socket?.write(text + "\n") == false else { return }
    lose(
      .notAnswering, "gpsd at \(address) does not read; restart it: sudo systemctl restart gpsd",
      at: now)
  }

  private mutating func read(
    for demand: LocationDemand, at now: MonotonicTime, into inputs: inout [PositionInput]
  ) {
    // Bytes beyond the buffer's size wait for the next call.
    guard let count = socket?.read(into: &buffer) else { return }
    guard count > 0 else {
      let sentence = "gpsd at \(address) ended the connection; it is connected again"
      return lose(.notRunning, sentence, at: now)
    }
    latestMessage = now
    isLifeRequested = false
    // The backoff continues for a server that accepts a connection and ends it at once.
    if hasVersion, now.nanoseconds(since: connected) >= Self.lifeInterval { backoff.reset() }
    let dropped = lines.droppedLines
    let received = lines.append(buffer[..<count])
    badLines += lines.droppedLines - dropped
    for line in received {
      // The bytes outlive the call.
      guard let message = try? unsafe GPSDMessage(parsing: line.span.bytes) else {
        badLines += 1
        continue
      }
      handle(message, for: demand, at: now, into: &inputs)
      // A message may have ended the connection.
      if socket == nil { return }
    }
    let isMute = now.nanoseconds(since: connected) >= Self.lifeInterval
    if !hasVersion, badLines >= 16 || isMute {
      let sentence = "what answers at \(address) is no gpsd; check the address"
      lose(.refused, sentence, at: now)
    }
  }

  /// Requests a sign of life from a silent gpsd, and ends the connection if it does not answer.
  private mutating func checkLife(at now: MonotonicTime) {
    guard socket != nil, now.nanoseconds(since: latestMessage) >= Self.lifeInterval else { return }
    if isConnected, hasVersion, !isLifeRequested {
      latestMessage = now
      isLifeRequested = true
      request("?DEVICES;", at: now)
    } else {
      let sentence = "gpsd at \(address) does not answer; restart it: sudo systemctl restart gpsd"
      lose(.notAnswering, sentence, at: now)
    }
  }

  /// Reports a receiver that is silent after fixes, or whose clock stopped, as if it was unplugged.
  private mutating func checkNews(at now: MonotonicTime) {
    guard report.latest?.condition == .receiving, socket != nil, let latestFix,
      now.nanoseconds(since: max(latestFix.time, connected)) >= Self.silenceTime
    else { return }
    followed = nil
    report.report(
      .searching,
      "gpsd at \(address) has had no new fix from its receiver for "
        + "\(Self.silenceTime / MonotonicTime.nanosecondsPerSecond) s; check the receiver's cable")
  }

  private mutating func lose(
    _ condition: LocationHealth.Condition, _ sentence: String, at now: MonotonicTime
  ) {
    report.report(condition, sentence)
    disconnect(nextAttempt: now.advanced(by: backoff.next()))
  }

  private mutating func disconnect(nextAttempt: MonotonicTime?) {
    socket = nil
    isConnected = false
    hasVersion = false
    isLifeRequested = false
    self.nextAttempt = nextAttempt
    lines = LineBuffer()
    badLines = 0
    receivers = [:]
    followed = nil
    refusal = nil
    searchDue = nil
  }

  // MARK: Messages

  private mutating func handle(
    _ message: GPSDMessage, for demand: LocationDemand, at now: MonotonicTime,
    into inputs: inout [PositionInput]
  ) {
    switch message {
    case .version(let release, let major, _):
      guard major == 3 else {
        let sentence =
          "gpsd \(release) at \(address) uses protocol \(major), but only protocol 3 is known; "
          + "install gpsd 3"
        return lose(.refused, sentence, at: now)
      }
      hasVersion = true
      searchDue = now.advanced(by: Self.searchTime)
    case .devices(let devices):
      receivers = receivers.filter { entry in devices.contains { $0.path == entry.key } }
      for device in devices { add(device.path) }
      checkReceivers()
    case .device(let device):
      if device.isActive { add(device.path) } else { receivers[device.path] = nil }
      checkReceivers()
    case .error(let text):
      refusal = text
    case .sky(let sky):
      guard let path = sky.device, add(path) else { return }
      if let hdop = sky.hdop { receivers[path]?.hdop = hdop }
      if let visible = sky.visible { receivers[path]?.visible = visible }
      checkSearch(path)
    case .report(let value): handle(value, for: demand, at: now, into: &inputs)
    case .attitude(let attitude):
      guard demand.needsHeading else { return }
      let declination = attitude.device.flatMap { receivers[$0]?.declination }
      guard let heading = attitude.magneticHeading(declination: declination) else { return }
      let time = attitude.time ?? WallClockTime.now
      inputs.append(.compass(CompassReading(time: now, timestamp: time, magneticHeading: heading)))
    case .other: break
    }
  }

  @discardableResult
  private mutating func add(_ path: String) -> Bool {
    guard receivers[path] == nil else { return true }
    guard receivers.count < Self.maximumReceivers else { return false }
    receivers[path] = Receiver()
    return true
  }

  private mutating func checkReceivers() {
    if let followed, receivers[followed] == nil { self.followed = nil }
    guard receivers.isEmpty else {
      if report.latest?.condition == .noReceiver { search(nil) }
      return
    }
    searchDue = nil
    let detail = refusal.map { " (\($0))" } ?? ""
    report.report(
      .noReceiver,
      "gpsd at \(address) has no receiver\(detail); plug it in, or add it: sudo gpsdctl add /dev/ttyUSB0"
    )
  }

  /// Reports a missing fix, after one report if the satellites are known, else after three.
  private mutating func checkSearch(_ path: String) {
    guard let receiver = receivers[path], followed == nil || followed == path,
      receiver.misses >= (receiver.visible == nil ? 3 : 1)
    else { return }
    if followed == path, receiver.misses >= 3 { followed = nil }
    if followed == nil, report.latest?.condition == .receiving || receiver.visible != nil {
      search(path)
    }
  }

  private mutating func search(_ path: String?) {
    searchDue = nil
    let satellites = path.flatMap { receivers[$0]?.visible }
    let detail =
      switch satellites {
      case nil: ""
      case 1?: ": 1 satellite in view"
      case let count?: ": \(count) satellites in view"
      }
    let name = path ?? "its receiver"
    report.report(
      .searching,
      "gpsd at \(address) has no fix from \(name) yet\(detail); it needs a view of the sky")
  }

  private mutating func handle(
    _ value: GPSDMessage.Report, for demand: LocationDemand, at now: MonotonicTime,
    into inputs: inout [PositionInput]
  ) {
    let path = value.device ?? ""
    guard add(path) else { return }
    if let declination = value.declination { receivers[path]?.declination = declination }
    guard value.hasFix else {
      receivers[path]?.misses += 1
      return checkSearch(path)
    }
    receivers[path]?.misses = 0
    guard
      let fix = value.fix(
        at: now, wallClock: WallClockTime.now, hdop: receivers[path]?.hdop)
    else { return }
    if let followed, followed != path {
      guard let latestFix, now.nanoseconds(since: latestFix.time) >= Self.followTime else { return }
    }
    followed = path
    searchDue = nil
    // gpsd reports an epoch several times.
    if let latest = latestFix?.fix, value.time != nil, latest.timestamp == fix.timestamp,
      latest.place == fix.place
    {
      return
    }
    report.report(.receiving, "gpsd at \(address) has a fix from \(value.device ?? "its receiver")")
    latestFix = (now, fix)
    guard let fixes = demand.fixes else { return }
    // An epoch that is slightly early is delivered.
    if let delivered,
      now.seconds(since: delivered) < fixes.interval - min(fixes.interval * 0.1, 0.5),
      fixes.requests == answeredRequests
    {
      return
    }
    answeredRequests = fixes.requests
    delivered = now
    inputs.append(.fix(fix))
  }
}
