package import DBusMessages
import Glibc
import Scanning
package import Sources

/// The examination of the daemons that provide locations and headings.
///
/// Scanning needs none of them: an absent daemon is information, and one that does not work is a
/// warning.
package struct LocationDoctor: Sendable {
  /// The time limit for an answer of a daemon or the bus, in nanoseconds: 1 s.
  package var answerLimit = MonotonicTime.nanosecondsPerSecond
  /// The time limit for a fix of gpsd's receivers, in nanoseconds: 2 s.
  package var fixLimit = 2 * MonotonicTime.nanosecondsPerSecond
  package var root = ""

  package init() {}

  private func hasFile(_ paths: String...) -> Bool {
    paths.contains { unsafe access(root + $0, F_OK) == 0 }
  }

  private func runs(_ program: String) -> Bool {
    names(in: root + "/proc").contains { firstLine(of: "\(root)/proc/\($0)/comm") == program }
  }

  /// Examines gpsd, which opens its receivers for this. Takes at most 3 s.
  package func examineGPSD(at address: GPSDAddress) -> Finding {
    let isLocal = address == .local
    let wasRunning = !isLocal || runs("gpsd")
    var examination = GPSDExamination(address: address)
    if let failure = ask(&examination) {
      guard isLocal else {
        let advice = "check the address, and that the gpsd there listens on it: gpsd's option -G"
        return Finding(.gpsd, .info, "no gpsd answers at \(address) (\(failure)); \(advice)")
      }
      guard hasFile("/usr/sbin/gpsd", "/usr/local/sbin/gpsd", "/usr/bin/gpsd") else {
        return Finding(
          .gpsd, .info, "gpsd, which reads satellite receivers, is not installed",
          command: "sudo apt install gpsd")
      }
      return Finding(
        .gpsd, .info, "gpsd is installed, but none answers at \(address) (\(failure))",
        command: "sudo systemctl enable --now gpsd.socket")
    }
    var finding = examination.finding(
      serialPort: names(in: root + "/dev").first {
        $0.hasPrefix("ttyACM") || $0.hasPrefix("ttyUSB")
      })
    if !isLocal { finding.command = nil }
    if !wasRunning { finding.message += "; systemd starts it when something connects" }
    return finding
  }

  /// Connects to gpsd and collects its messages. Returns the reason if no connection succeeds.
  private func ask(_ examination: inout GPSDExamination) -> String? {
    var failure = "it does not answer"
    // `localhost` may have two addresses.
    for attempt in 0..<2 {
      do throws(StreamSocket.Failure) {
        let socket = try StreamSocket.connecting(to: examination.address, attempt: attempt)
        guard socket.wait(nanoseconds: answerLimit / 2, forWriting: true, or: -1) else { continue }
        if let error = socket.connectionError {
          failure = error
          continue
        }
        follow(socket, &examination)
        return nil
      } catch {
        failure = error.sentence
      }
    }
    return failure
  }

  private func follow(_ socket: borrowing StreamSocket, _ examination: inout GPSDExamination) {
    guard socket.write(#"?WATCH={"enable":true,"json":true};"# + "\n") else { return }
    var end = MonotonicTime.now.advanced(by: answerLimit)
    var lines = LineBuffer()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !examination.isOver {
      let left = end.nanoseconds(since: MonotonicTime.now)
      guard left > 0 else { return }
      guard socket.wait(nanoseconds: left, forWriting: false, or: -1),
        let count = socket.read(into: &buffer)
      else { continue }
      guard count > 0 else { return }
      for line in lines.append(buffer[..<count]) {
        let hadReceivers = examination.receivers != nil
        // The bytes outlive the call.
        examination.receive(try? unsafe GPSDMessage(parsing: line.span.bytes))
        if !hadReceivers, examination.receivers != nil {
          end = MonotonicTime.now.advanced(by: fixLimit)
        }
      }
    }
  }

  private func finding(
    _ subject: Finding.Subject, _ name: String, unit: String, _ error: BusError
  ) -> Finding {
    switch error {
    case .unavailable:
      // Scanning uses the bus too, and its doctor has the reason and the command.
      Finding(
        subject, .info, "\(name) cannot be asked, because the system's message bus does not answer")
    case .timedOut, .congested:
      Finding(
        subject, .warning, "\(name) does not answer", command: "sudo systemctl restart \(unit)")
    case .notPermitted(let reason):
      Finding(subject, .warning, "the system's bus does not permit \(name) (\(reason))")
    default:
      Finding(
        subject, .warning, "\(name) cannot be used (\(error)); its log has the reason",
        command: "journalctl -u \(unit)")
    }
  }

  /// Examines GeoClue, which the bus may start. Takes at most 5 s, and requests no location.
  package func examineGeoClue(on address: BusAddress = .system) -> Finding {
    do throws(BusError) {
      let bus = try BusConnection(address, limits: GeoClueSession.limits, timeout: answerLimit)
      defer { bus.close() }
      guard try GeoClueSession.isPresent(on: bus, answerLimit) else { return absenceOfGeoClue }
      let level = try bus.call(
        BusMessage(
          call: "Get", of: Bus.properties, at: GeoClueName.managerPath,
          to: GeoClueName.service,
          body: [.string(GeoClueName.manager), .string("AvailableAccuracyLevel")]),
        timeout: answerLimit
      ).first?.asInt
      guard let place = Self.places[level ?? 0] else {
        return Finding(
          .geoclue, .info,
          "GeoClue runs, but has no source of locations; switch location services on in the "
            + "system's settings, and the sources in /etc/geoclue/geoclue.conf")
      }
      // GeoClue creates clients only for users with an agent. The client ends with the connection.
      do throws(BusError) {
        _ = try bus.call(
          BusMessage(
            call: "CreateClient", of: GeoClueName.manager, at: GeoClueName.managerPath,
            to: GeoClueName.service), timeout: answerLimit)
      } catch .timedOut {
        return Finding(
          .geoclue, .warning,
          "GeoClue runs, but gives locations to nobody without an agent of this user, which permits "
            + "them; desktops have one, elsewhere start its own in the session",
          command: "/usr/libexec/geoclue-2.0/demos/agent &")
      }
      return Finding(
        .geoclue, .ok,
        "GeoClue runs, has an agent and may find \(place); its agent and its configuration decide "
          + "whether beaconscan receives that")
    } catch {
      return finding(.geoclue, "GeoClue", unit: "geoclue", error)
    }
  }

  private static let places = [
    1: "the country", 4: "the city", 5: "the neighborhood", 6: "the street", 8: "the exact place",
  ]

  private var absenceOfGeoClue: Finding {
    guard hasFile("/usr/libexec/geoclue", "/usr/lib/geoclue-2.0/geoclue") else {
      return Finding(
        .geoclue, .info, "GeoClue, which finds places by Wi-Fi and modems, is not installed",
        command: "sudo apt install geoclue-2.0")
    }
    return Finding(
      .geoclue, .info, "GeoClue is installed, but the system's bus cannot start it",
      command: "sudo systemctl reload dbus")
  }

  /// Examines the compass of iio-sensor-proxy without turning it on. Takes at most 2 s.
  package func examineCompass(on address: BusAddress = .system) -> Finding {
    do throws(BusError) {
      let bus = try BusConnection(address, limits: GeoClueSession.limits, timeout: answerLimit)
      defer { bus.close() }
      guard try CompassSession.isPresent(on: bus, answerLimit) else {
        return Finding(
          .compass, .info,
          CompassSession.absenceOfCompass + "; there is no command that helps, connect one")
      }
      return Finding(.compass, .ok, "iio-sensor-proxy has a compass that beaconscan may use")
    } catch .notPermitted {
      return Finding(
        .compass, .warning,
        "the system's bus permits the compass of iio-sensor-proxy to GeoClue alone; a policy that "
          + "comes with beaconscan permits it to others",
        command: "sudo cp /usr/share/doc/beaconscan/beaconscan-compass.conf /etc/dbus-1/system.d/ "
          + "&& sudo systemctl reload dbus")
    } catch .failed(BusError.Name.serviceUnknown, _) {
      return absenceOfSensorProxy
    } catch {
      return finding(.compass, "iio-sensor-proxy", unit: "iio-sensor-proxy", error)
    }
  }

  private var absenceOfSensorProxy: Finding {
    guard hasFile("/usr/libexec/iio-sensor-proxy", "/usr/sbin/iio-sensor-proxy") else {
      return Finding(
        .compass, .info, "iio-sensor-proxy, which reads the compass, is not installed",
        command: "sudo apt install iio-sensor-proxy")
    }
    guard !names(in: root + "/sys/bus/iio/devices").isEmpty else {
      return Finding(
        .compass, .info,
        "iio-sensor-proxy is installed, and this machine has no sensor; it starts when one is connected"
      )
    }
    return Finding(
      .compass, .info, "iio-sensor-proxy is installed, but does not run",
      command: "sudo systemctl start iio-sensor-proxy")
  }
}

struct GPSDExamination {
  let address: GPSDAddress
  /// The release and the protocol; `nil` while unknown.
  private(set) var version: String?
  private(set) var isKnownProtocol = true
  private(set) var isForeign = false
  /// At most 4 receivers, in gpsd's order; `nil` while unknown.
  private(set) var receivers: [Receiver]?
  private var refusal: String?

  struct Receiver: Equatable {
    var path: String
    var driver: String?
    var isAlive = false
    /// gpsd's mode in the latest report: 2 and 3 are fixes.
    var mode = 0
    var misses = 0
    var visible: Int?
    var used: Int?

    var hasFix: Bool { mode >= 2 }
    /// Whether later messages would add nothing, usually after a second.
    var isKnown: Bool { hasFix ? used != nil : misses >= 5 && visible != nil }
  }

  init(address: GPSDAddress) { self.address = address }

  // The limit of gpsd 3.22.
  private static let maximumReceivers = 4

  var isOver: Bool {
    guard isKnownProtocol, !isForeign else { return true }
    guard let receivers else { return false }
    // gpsd may still be looking for receivers.
    return !receivers.isEmpty && receivers.allSatisfy(\.isKnown)
  }

  mutating func receive(_ message: GPSDMessage?) {
    switch message {
    case nil: isForeign = isForeign || version == nil
    case .version(let release, let major, let minor):
      version = "gpsd \(release) (protocol \(major).\(minor))"
      isKnownProtocol = major == 3
    case .devices(let devices):
      for device in devices { change(device.path) { $0.driver = device.driver ?? $0.driver } }
      receivers = receivers ?? []
    case .device(let device):
      change(device.path) { $0.driver = device.driver ?? $0.driver }
    case .error(let text): refusal = text
    case .sky(let sky):
      change(sky.device) { receiver in
        receiver.isAlive = true
        receiver.visible = sky.visible ?? receiver.visible
        receiver.used = sky.used ?? receiver.used
      }
    case .report(let report):
      change(report.device) { receiver in
        receiver.isAlive = true
        receiver.mode = report.mode
        receiver.misses += report.hasFix ? 0 : 1
      }
    case .attitude(let attitude): change(attitude.device) { $0.isAlive = true }
    case .other: break
    }
  }

  private mutating func change(_ path: String?, _ body: (inout Receiver) -> Void) {
    let path = path ?? "its receiver"
    var all = receivers ?? []
    if let index = all.firstIndex(where: { $0.path == path }) {
      body(&all[index])
    } else if all.count < Self.maximumReceivers {
      var receiver = Receiver(path: path)
      body(&receiver)
      all.append(receiver)
    }
    receivers = all
  }

  func finding(serialPort: String? = nil) -> Finding {
    guard !isForeign else {
      return Finding(
        .gpsd, .warning, "what answers at \(address) is no gpsd; check the address in --gpsd")
    }
    guard let version, let receivers else {
      return Finding(
        .gpsd, .warning, "gpsd at \(address) accepts the connection, but does not answer",
        command: "sudo systemctl restart gpsd")
    }
    let start = "\(version) answers at \(address)"
    guard isKnownProtocol else {
      return Finding(
        .gpsd, .warning, "\(start), but only protocol 3 is known; install gpsd 3",
        command: "sudo apt install gpsd")
    }
    let detail = refusal.map { " (\($0))" } ?? ""
    guard !receivers.isEmpty else {
      guard let serialPort else {
        return Finding(
          .gpsd, .info,
          "\(start), but has no receiver\(detail); connect one: gpsd finds it by itself with "
            + "USBAUTO=\"true\" in /etc/default/gpsd")
      }
      return Finding(
        .gpsd, .info, "\(start), but has no receiver\(detail); /dev/\(serialPort) may be one",
        command: "sudo gpsdctl add /dev/\(serialPort)")
    }
    let message = "\(start): " + receivers.map(Self.sentence).joined(separator: ", ")
    if receivers.contains(where: \.hasFix) { return Finding(.gpsd, .ok, message) }
    if receivers.contains(where: \.isAlive) {
      return Finding(
        .gpsd, .info, message + "; place the receiver where it has a view of the sky, and wait")
    }
    return Finding(
      .gpsd, .warning,
      message + detail + "; check its cable, power and speed; one that was off takes some seconds, "
        + "so run beaconscan doctor again")
  }

  private static func sentence(_ receiver: Receiver) -> String {
    let name = receiver.path + (receiver.driver.map { " (\($0))" } ?? "")
    guard receiver.isAlive else { return "\(name) has sent nothing yet" }
    let satellites =
      switch (receiver.used, receiver.visible) {
      case (let used?, let visible?): ", \(used) of \(visible) satellites used"
      case (let used?, nil): ", \(used) satellites used"
      case (nil, let visible?): ", \(visible) satellites in view"
      case (nil, nil): ""
      }
    let fix =
      switch receiver.mode {
      case 3...: "has a fix with altitude"
      case 2: "has a fix without altitude"
      default: "sends data, but has no fix"
      }
    return "\(name) \(fix) (mode \(receiver.mode)\(satellites))"
  }
}
