import DBusMessages
import Scanning
import Sources
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// The examination of the daemons, on real ones, each with what is wrong with it.
@Suite(.blocking, .daemons) struct LocationDoctorTests {
  let scratch: Scratch
  var doctor = LocationDoctor()

  init() throws {
    scratch = try Scratch()
    doctor.root = scratch["machine"]
    // What comes is waited for, however busy the machine is.
    (doctor.answerLimit, doctor.fixLimit) = (120_000_000_000, 120_000_000_000)
  }

  /// Makes a file of the examined machine.
  private func install(_ path: String) throws {
    let folders = path.split(separator: "/").dropLast().joined(separator: "/")
    try scratch.makeFolder("machine/\(folders)")
    try scratch.write([], "machine/\(path)")
  }

  private func expect(
    _ finding: Finding, _ level: Finding.Level, _ text: String, command: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(finding.level == level, "\(finding.message)", sourceLocation: location)
    #expect(finding.message.contains(text), "\(finding.message)", sourceLocation: location)
    #expect(finding.command == command, sourceLocation: location)
  }

  // MARK: gpsd

  @Test func aGPSDWithAFix() throws {
    let port = try freePort()
    let log = (1...50).flatMap { GPSDSourceTests.epoch($0) }.map(nmeaLine).joined()
    try scratch.write(Array("# log\n\(log)".utf8), "own.log")
    let fake = try Daemon.gpsfake(
      scratch["own.log"], on: port, output: scratch["gpsfake.log"])
    let address = GPSDAddress.tcp(host: "127.0.0.1", port: port)
    #expect(eventually { GPSDSession.availability(of: address) == .available })
    // gpsd answers before gpsfake has given it the receiver.
    var finding = doctor.examineGPSD(at: address)
    _ = eventually {
      finding = doctor.examineGPSD(at: address)
      return finding.level == .ok
    }
    expect(finding, .ok, "gpsd 3.")
    #expect(finding.message.contains("(protocol 3."))
    #expect(finding.message.contains("has a fix with altitude (mode 3, "), "\(finding.message)")
    withExtendedLifetime(fake) {}
  }

  @Test func aGPSDWithoutAFixOrAReceiver() throws {
    let port = try freePort()
    let gpsd = try GPSDDaemon(on: port, in: scratch)
    let address = GPSDAddress.tcp(host: "127.0.0.1", port: port)
    #expect(eventually { GPSDSession.availability(of: address) == .available })
    var doctor = doctor
    doctor.fixLimit = 100_000_000
    expect(doctor.examineGPSD(at: address), .info, "has no receiver; connect one")
    // A receiver that sends nothing.
    try gpsd.add(try freePort())
    expect(doctor.examineGPSD(at: address), .warning, "has sent nothing yet; check its cable")
  }

  @Test func noGPSD() throws {
    let none = GPSDAddress.unix(path: scratch["none"])
    expect(doctor.examineGPSD(at: none), .info, "check the address")
    let silent = try FakeServer(at: scratch["silent"])
    var doctor = doctor
    doctor.answerLimit = 100_000_000
    let finding = doctor.examineGPSD(at: .unix(path: scratch["silent"]))
    expect(finding, .warning, "accepts the connection, but does not answer")
    withExtendedLifetime(silent) {}
  }

  /// What gpsd shows, line for line.
  @Test(
    arguments: [
      (
        [
          #"{"class":"DEVICES","devices":[{"path":"/dev/a","driver":"u-blox"},{"path":"/dev/b"}]}"#,
          #"{"class":"SKY","device":"/dev/a","nSat":11,"uSat":8}"#,
          #"{"class":"TPV","device":"/dev/a","mode":2,"lat":1,"lon":2}"#,
        ], Finding.Level.ok,
        "/dev/a (u-blox) has a fix without altitude (mode 2, 8 of 11 satellites used), "
          + "/dev/b has sent nothing yet"
      ),
      (
        [
          #"{"class":"DEVICES","devices":[{"path":"/dev/a"}]}"#,
          #"{"class":"SKY","device":"/dev/a","nSat":3}"#,
          #"{"class":"TPV","device":"/dev/a","mode":1}"#,
        ], .info, "/dev/a sends data, but has no fix (mode 1, 3 satellites in view); place"
      ),
      (
        [
          #"{"class":"DEVICES","devices":[{"path":"/dev/a"}]}"#,
          #"{"class":"ERROR","message":"Can't open /dev/a"}"#,
        ], .warning, "/dev/a has sent nothing yet (Can't open /dev/a); check its cable"
      ),
    ] as [([String], Finding.Level, String)])
  func whatGPSDShows(lines: [String], level: Finding.Level, text: String) throws {
    var examination = GPSDExamination(address: .local)
    let version = #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"#
    for line in [version] + lines {
      let bytes = Array(line.utf8)
      // The bytes outlive the call.
      examination.receive(try unsafe GPSDMessage(parsing: bytes.span.bytes))
    }
    expect(
      examination.finding(), level, "gpsd 3.22 (protocol 3.14) answers at localhost:2947: " + text)
  }

  @Test func othersThanGPSD() {
    var examination = GPSDExamination(address: .local)
    examination.receive(.version(release: "4.0", major: 4, minor: 0))
    #expect(examination.isOver)
    examination.receive(.devices([]))
    expect(
      examination.finding(), .warning, "only protocol 3 is known", command: "sudo apt install gpsd")
    var other = GPSDExamination(address: .local)
    other.receive(nil)
    #expect(other.isOver)
    expect(other.finding(), .warning, "is no gpsd")
    var empty = GPSDExamination(address: .local)
    empty.receive(.version(release: "3.25", major: 3, minor: 15))
    empty.receive(.devices([]))
    expect(
      empty.finding(serialPort: "ttyACM0"), .info, "/dev/ttyACM0 may be one",
      command: "sudo gpsdctl add /dev/ttyACM0")
  }

  // MARK: The system's bus

  @Test func noBus() {
    for finding in [
      doctor.examineGeoClue(on: .address("unix:path=none")),
      doctor.examineCompass(on: .address("unix:path=none")),
    ] {
      expect(finding, .info, "because the system's message bus does not answer")
    }
  }

  @Test func geoClueAndItsAgent() throws {
    let bus = try BusDaemon(in: scratch)
    let address = BusAddress.address(bus.address)
    expect(
      doctor.examineGeoClue(on: address), .info, "is not installed",
      command: "sudo apt install geoclue-2.0")
    try install("usr/libexec/geoclue")
    expect(
      doctor.examineGeoClue(on: address), .info, "cannot start it",
      command: "sudo systemctl reload dbus")
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    var brief = doctor
    brief.answerLimit = 5_000_000_000
    expect(
      brief.examineGeoClue(on: address), .warning, "without an agent of this user",
      command: "/usr/libexec/geoclue-2.0/demos/agent &")
    let agent = try GeoClueAgent(bus.address)
    expect(doctor.examineGeoClue(on: address), .ok, "has an agent and may find the exact place")
    withExtendedLifetime((geoclue, agent)) {}
  }

  @Test func aCompass() throws {
    let bus = try BusDaemon(in: scratch)
    let address = BusAddress.address(bus.address)
    expect(
      doctor.examineCompass(on: address), .info, "is not installed",
      command: "sudo apt install iio-sensor-proxy")
    try install("usr/libexec/iio-sensor-proxy")
    expect(doctor.examineCompass(on: address), .info, "this machine has no sensor")
    try install("sys/bus/iio/devices/iio:device0")
    expect(
      doctor.examineCompass(on: address), .info, "does not run",
      command: "sudo systemctl start iio-sensor-proxy")
    let machine = try CompassMachine(bus.address)
    try machine.run("start")
    expect(doctor.examineCompass(on: address), .ok, "has a compass")
    try machine.run("remove")
    #expect(eventually { doctor.examineCompass(on: address).level == .info })
    expect(doctor.examineCompass(on: address), .info, "has no compass")
  }

  @Test func aCompassThatThePolicyRefuses() throws {
    let bus = try BusDaemon(
      in: scratch,
      rules: #"<deny send_destination="net.hadess.SensorProxy" send_type="method_call"/>"#)
    let machine = try CompassMachine(bus.address)
    try machine.run("start")
    expect(
      doctor.examineCompass(on: .address(bus.address)), .warning, "to GeoClue alone",
      command: "sudo cp /usr/share/doc/beaconscan/beaconscan-compass.conf /etc/dbus-1/system.d/ "
        + "&& sudo systemctl reload dbus")
  }
}
