package import DBusMessages
package import Positioning
package import Scanning

/// A source of compass readings that uses iio-sensor-proxy over D-Bus, which turns on the sensor
/// while a client has claimed it.
///
/// `CompassHeading` is in degrees clockwise from magnetic north to the top of the device. The
/// policy of iio-sensor-proxy permits the compass only to GeoClue;
/// `Packaging/beaconscan-compass.conf` permits it to others.
package typealias CompassSource = LiveSource<CompassSession>

extension CompassSource {
  package convenience init(bus: BusAddress = .system) {
    self.init("iio-sensor-proxy", CompassSession(on: bus)) {
      CompassSession.daemon.availability(
        on: bus, without: CompassSession.absenceOfCompass, isPresent: CompassSession.isPresent)
    }
  }
}

enum CompassName {
  static let service = "net.hadess.SensorProxy"
  static let interface = "net.hadess.SensorProxy.Compass"
  static let path = "/net/hadess/SensorProxy/Compass"
}

package struct CompassSession: ~Copyable, LocationSession {
  package var report = LocationReport()

  private var client: BusClient<Subject>
  private var hasCompass: Bool?
  private var heading: Double?
  /// The time of the next request for the properties; `nil` while the compass is not claimed.
  private var nextRequest: MonotonicTime?

  private enum Subject { case claim, presence, properties }

  private static let answerLimit = 4 * MonotonicTime.nanosecondsPerSecond
  /// The time to a request for the heading if it has not changed since the claim. Before the daemon
  /// reads the sensor, it returns the heading of an earlier claim.
  private static let firstRequest = MonotonicTime.nanosecondsPerSecond
  /// The time between requests: neither a compass at rest nor a daemon that hangs sends anything.
  private static let requestInterval = 5 * MonotonicTime.nanosecondsPerSecond

  init(on address: BusAddress) {
    client = BusClient(of: CompassName.service, on: address, limits: GeoClueSession.limits)
  }

  static let absenceOfCompass =
    "iio-sensor-proxy has no compass; it needs one of the kernel's driver hid_sensor_magn_3d"

  static let daemon = SystemDaemon(
    name: "iio-sensor-proxy", unit: "iio-sensor-proxy", subject: .headings,
    absence: "iio-sensor-proxy, which reads the compass, does not run; install it: "
      + "sudo apt install iio-sensor-proxy; it starts when the machine has a sensor"
  ) { _ in
    "the system's bus permits the compass to GeoClue alone; copy beaconscan-compass.conf, which lies "
      + "with beaconscan's documents, to /etc/dbus-1/system.d, and run: sudo systemctl reload dbus"
  }

  private static var propertiesRequest: BusMessage {
    BusMessage(
      call: "GetAll", of: Bus.properties, at: CompassName.path, to: CompassName.service,
      body: [.string(CompassName.interface)])
  }

  private static func call(_ member: String) -> BusMessage {
    BusMessage(
      call: member, of: CompassName.interface, at: CompassName.path, to: CompassName.service)
  }

  static func isPresent(on bus: BusConnection, _ limit: Int64) throws(BusError) -> Bool {
    let values = try bus.call(propertiesRequest, timeout: limit).first?.asProperties
    return values?["HasCompass"]?.asBool == true
  }

  package mutating func rest() {
    // Without this call, the end of the connection also releases the compass.
    if let bus = client.bus, nextRequest != nil { _ = try? bus.send(Self.call("ReleaseCompass")) }
    client.disconnect()
    client.succeed()
    forget()
    report.reset()
  }

  package mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput]
  ) {
    defer { wakeSignal.reset() }
    let start = MonotonicTime.now
    guard demand.needsHeading else {
      rest()
      return wakeSignal.wait(nanoseconds: end.nanoseconds(since: start))
    }
    do throws(BusError) {
      let change = BusMatch(
        sender: CompassName.service, path: CompassName.path, interface: Bus.properties,
        member: "PropertiesChanged", arg0: CompassName.interface)
      if try client.connect(at: start, matching: [change]) { try claim(at: start) }
      let messages = try client.receive(
        until: min(end, nextRequest ?? end), wakeSignal: wakeSignal)
      let now = MonotonicTime.now
      for message in messages { try handle(message, at: now, into: &inputs) }
      if let nextRequest, now >= nextRequest {
        try client.ask(Self.propertiesRequest, .properties, at: now)
        self.nextRequest = now.advanced(by: Self.requestInterval)
      }
      if client.calls.values.contains(where: { now.nanoseconds(since: $0.sent) >= Self.answerLimit }
      ) {
        throw .timedOut(member: CompassName.service)
      }
    } catch {
      fail(error, at: MonotonicTime.now)
    }
  }

  private mutating func claim(at now: MonotonicTime) throws(BusError) {
    forget()
    try client.ask(Self.call("ClaimCompass"), .claim, at: now)
    try client.ask(Self.propertiesRequest, .presence, at: now)
  }

  private mutating func fail(_ error: BusError, at now: MonotonicTime) {
    report.report(Self.daemon.health(error))
    client.fail(at: now)
    forget()
  }

  private mutating func forget() {
    hasCompass = nil
    heading = nil
    nextRequest = nil
  }

  private mutating func handle(
    _ message: BusMessage, at now: MonotonicTime, into inputs: inout [PositionInput]
  ) throws(BusError) {
    switch client.event(of: message) {
    case .owner(let owner):
      client.calls = [:]
      forget()
      if owner != nil {
        try claim(at: now)
      } else {
        report(.notRunning, "iio-sensor-proxy ended; the compass is used again when it runs")
      }
    case .answer(let subject): try answered(subject, by: message, at: now, into: &inputs)
    case .service where message.path == CompassName.path:
      guard message.isSignal("PropertiesChanged", of: Bus.properties), message.body.count >= 2,
        message.body[0].asString == CompassName.interface,
        let values = message.body[1].asProperties
      else { return }
      try setPresence(values, at: now)
      // A heading that arrives with the presence of a compass was not measured.
      guard values["HasCompass"] == nil else { return }
      receive(values, at: now, isChange: true, into: &inputs)
    case .service, .other, nil: break
    }
  }

  private mutating func answered(
    _ subject: Subject, by message: BusMessage, at now: MonotonicTime,
    into inputs: inout [PositionInput]
  ) throws(BusError) {
    switch message.error {
    case .failed(BusError.Name.serviceUnknown, _)?:
      // The bus reports the daemon's start.
      report.report(Self.daemon.health(.failed(name: BusError.Name.serviceUnknown, message: "")))
      return nextRequest = nil
    case .failed(BusError.Name.noReply, _)?:
      // The daemon has ended, which the bus reports as well.
      return
    case .failed(BusError.Name.limitsExceeded, _)? where subject == .claim:
      // The compass is already claimed.
      break
    case let error?: throw error
    case nil: break
    }
    if subject == .claim {
      client.succeed()
      return nextRequest = now.advanced(by: Self.firstRequest)
    }
    guard let values = message.body.first?.asProperties else { return }
    try setPresence(values, at: now)
    guard subject == .properties else { return }
    receive(values, at: now, isChange: false, into: &inputs)
    if hasCompass == true, heading == nil {
      report(.searching, "the compass has no heading yet")
    }
  }

  private mutating func setPresence(
    _ values: [String: BusValue], at now: MonotonicTime
  ) throws(BusError) {
    guard let hasCompass = values["HasCompass"]?.asBool else { return }
    let isBack = hasCompass && self.hasCompass == false
    self.hasCompass = hasCompass
    if !hasCompass {
      heading = nil
      report(.noReceiver, Self.absenceOfCompass)
    } else if isBack {
      // The daemon forgot its clients when the sensor was removed.
      try client.ask(Self.call("ClaimCompass"), .claim, at: now)
    }
  }

  private mutating func receive(
    _ values: [String: BusValue], at now: MonotonicTime, isChange: Bool,
    into inputs: inout [PositionInput]
  ) {
    // Before the sensor is read the heading is −1, and in iio-sensor-proxy 3.0 it is 0.
    guard hasCompass != false, let stated = values["CompassHeading"]?.asDouble, stated >= 0,
      let degrees = bearing(stated), isChange || degrees != heading ?? 0
    else { return }
    heading = degrees
    report(.receiving, "iio-sensor-proxy delivers headings")
    inputs.append(
      .compass(
        CompassReading(time: now, timestamp: WallClockTime.now, magneticHeading: degrees)))
  }

  private mutating func report(_ condition: LocationHealth.Condition, _ sentence: String) {
    report.report(
      LocationHealth(condition, of: .headings, at: MonotonicTime.now, sentence: sentence))
  }
}
