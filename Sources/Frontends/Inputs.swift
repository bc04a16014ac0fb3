package import Advertising
package import CaptureFiles
package import LiveScanning
package import LocationSources
import Positioning
import Ranging
package import Regions
package import Scanning

package enum Inputs {}

// MARK: Where sightings come from

extension Inputs {
  package static let replay = Setting<String>.file(
    "replay", "A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.",
    details:
      "May be given several times: the recordings are merged by time. For locate, inspect and the "
      + "circles of monitor, also tracks of NMEA 0183, GPX or gpsd JSON.",
    valid: "write the name of a recording, or - for standard input")

  package static let speed = Setting<ReplayScanner.Speed>(
    "speed",
    "How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.",
    "speed", standard: .max, shown: "max",
    valid:
      "write max, or a multiple of the recording's own time with an x, such as 1x or 10x, from "
      + "0.001x to 100000x",
    read: ReplayScanner.Speed.init)

  package static let follow = Setting<Bool>.flag(
    "follow", "Go on when the recording's end is reached: it is still being written.")

  package static let duration = Setting<Seconds>.time(
    "duration", "Stop after so long: 10, 10s, 250ms or 15m.",
    details: "Of a recording, its own time counts.",
    valid: "write \(Seconds.example), longer than 0 and shorter than 30 years")

  package static let adapter = Setting<AdapterSelection>(
    "adapter",
    "Scan with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.",
    "adapter",
    details:
      "May be given several times. Without it, and without --replay: the first that works.",
    completion: .adapter,
    valid: "write hci0, hci1 and so on, its address such as 00:1B:DC:0F:10:07, or all"
  ) { text in
    text == "all" ? .all : AdapterName(text).map { .these([$0]) }
  }

  package static let backend = Setting<LiveScanner.Backend>.choice(
    "backend", "How to receive: hci (raw HCI sockets), bluez (bluetoothd, over D-Bus) or auto.",
    "backend",
    details:
      "auto uses raw HCI sockets where they are permitted and bluetoothd does not scan, and otherwise "
      + "bluetoothd. Where one of them receives nothing for two seconds, it uses the other.",
    standard: .auto)

  package static let active = Setting<Bool>.flag(
    "active", "Ask advertisers for their scan responses too, which costs them power.",
    details: "Needs raw HCI sockets. bluetoothd asks for them whenever strengths are needed.")

  package static let coded = Setting<Bool>.flag(
    "coded", "Receive on the Coded PHY too, where the adapter has it.",
    details: "Needs raw HCI sockets.")
}

// MARK: Where locations come from

extension Inputs {
  package static let source = Setting<LocationSettings.Kind>.choice(
    "source", "Where locations come from: gpsd, geoclue, fixed (the --position) or auto.", "source",
    details:
      "auto uses gpsd where it runs, otherwise GeoClue, otherwise the --position. Where one of them "
      + "has no fix for a minute, it uses the next.",
    shown: "auto")

  package static let gpsd = Setting<GPSDAddress>(
    "gpsd", "Where gpsd listens: HOST, HOST:PORT or the path of a Unix socket.", "host:port|path",
    shown: "localhost:2947",
    valid: "write HOST, HOST:PORT or the path of a Unix socket, such as localhost:2947",
    read: GPSDAddress.init)

  package static let position = Setting<PositionArgument>(
    "position", "Where this machine stands, in degrees and meters above sea level.",
    "latitude,longitude[,altitude]",
    valid:
      "write LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE, such as 52.5163,13.3777,34, with a "
      + "latitude from -90 to 90, a longitude from -180 to 180 and an altitude from -11000 to "
      + "100000 m",
    read: PositionArgument.init)
}

// MARK: Which beacons

extension Inputs {
  package static let uuid = Setting<ProximityUUID>(
    SettingDescription(
      "uuid", "Only beacons of this proximity UUID.", "uuid", details: "May be given several times."
    ), valid: ProximityUUID.requirement, read: ProximityUUID.init)

  package static let major = number16("major", "Of --uuid, only this major.")
  package static let minor = number16("minor", "Of --uuid, only this minor.")

  package static func number16(
    _ name: String, _ summary: String, standard: UInt16? = nil
  ) -> Setting<UInt16> {
    .whole(name, summary, in: 0...65535, standard: standard)
  }

  package static let regionSummary =
    "A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR."

  package static let region = Setting<RegionArgument>(
    SettingDescription("region", regionSummary, "name=uuid[:major[:minor]]"),
    valid: { RegionArgument.requirement(for: $0) }, read: RegionArgument.init)

  package static let latitude = Setting<Double>.number(
    "latitude", "The latitude of a circle's center.", "degrees", in: -90...90,
    kind: "a number of degrees")

  package static let longitude = Setting<Double>.number(
    "longitude", "The longitude of a circle's center.", "degrees", in: -180...180,
    kind: "a number of degrees")

  package static let radius = Setting<Double>.number(
    "radius", "The radius of a circle.", "meters",
    in: .leastNonzeroMagnitude...CircularRegion.maximumRadius, kind: "a number of meters")

  /// The settings of a circle, in the order in which ``CircularRegion/init(name:_:)`` takes them.
  package static let circle = [latitude, longitude, radius]
}

// MARK: Rules for entering and leaving

extension Inputs {
  package static let each = Setting<Bool>.flag(
    "each",
    "Report each beacon of a region as it enters and leaves, not only the first and the last.",
    details: "Of a region, 512 beacons are inside at once at most.")

  package static let exitAfter = Setting<ExitTimeoutRule>(
    "exit-after", "The exit timeout, of at most 7d; adaptive learns it from the beacon's own gaps.",
    "adaptive|time", standard: .adaptive(), shown: "adaptive",
    valid: "write adaptive, or \(Seconds.example), of more than 0 and at most 7d",
    read: ExitTimeoutRule.init(text:))

  package static let boundary = Setting<Boundary>(
    "boundary",
    "Where the region ends, in both directions: a signal strength such as -67, or a distance such as 3m.",
    "dBm|meters",
    valid:
      "write a signal strength in dBm such as -67, from -128 to 0, or a distance such as 3m, of more "
      + "than 0 and at most 1000m",
    read: Boundary.init)

  package static let enterRssi = strength(
    "enter-rssi", "Enter only above this signal strength.")
  package static let exitRssi = strength(
    "exit-rssi", "Leave below this signal strength.",
    shown: "--enter-rssi, as a boundary")

  private static func strength(
    _ name: String, _ summary: String, shown: String? = nil
  ) -> Setting<Double> {
    .number(
      name, summary, "dBm", in: Boundary.strengths, shown: shown,
      kind: "a signal strength in dBm such as -67")
  }

  package static let enterDistance = distance(
    "enter-distance", "Enter only nearer than this.")
  package static let exitDistance = distance(
    "exit-distance", "Leave farther away than this.",
    shown: "--enter-distance, as a boundary")

  private static func distance(
    _ name: String, _ summary: String, shown: String? = nil
  ) -> Setting<Double> {
    .number(
      name, summary, "meters", in: Boundary.distances, shown: shown,
      kind: "a distance in meters such as 1.5")
  }

  package static let enterCount = Setting<EnterCount>(
    "enter-count",
    "Enter only when so many of the last M sightings, at most 64, lie inside those limits.",
    "n/m", standard: .first, shown: "1/1",
    valid: "write how many of how many sightings, such as 2/3, from 1/1 to 64/64",
    read: EnterCount.init(text:))

  package static let dwell = Setting<Seconds>.time(
    "dwell", "Enter only when the beacon was inside those limits for so long, at most 7d.",
    in: 0...604_800, shown: "0", valid: "write \(Seconds.example), from 0 to 7d")
}

// MARK: Distance

extension Inputs {
  package static let model = Setting<String>.text(
    "model", "How signal falls with distance: log-distance, android-nexus5 or android-2013.",
    "name",
    shown: "log-distance", completion: .words(PathLossModel.names),
    valid: "write \(either(PathLossModel.names))",
    isValid: { PathLossModel.names.contains($0) })

  package static let environment = Setting<Double>.number(
    "environment",
    "The site's environment factor, the exponent of log-distance: 2 is free space.",
    "number", in: PathLossModel.exponentRange, kind: "a number such as 2.2")

  package static let measuredPower = Setting<Double>.number(
    "measured-power",
    "The power received at 1 m, in place of what the beacons state.", "dBm",
    in: -100 ... -1, kind: "a signal strength in dBm such as -59")

  package static let adapterOffset = Setting<AdapterOffset>(
    "adapter-offset",
    "How much stronger than true the adapter receives, from -50 to 50; for one of several, hci1=3.",
    "[adapter=]dB",
    details:
      "May be given several times, once for each adapter and once for all. That of one adapter "
      + "counts where this adapter receives.",
    valid: "write decibels such as 3, or those of one adapter such as hci1=3, from -50 to 50"
  ) { text in
    AdapterOffset(text).flatMap { abs($0.decibels) <= 50 ? $0 : nil }
  }

  package static let typicalDistance = Setting<TypicalDistance>(
    "typical-distance",
    "The distances that estimates expect: two of three within a factor of so many meters, or none.",
    "meters[,factor]|none", standard: TypicalDistance(), shown: "3,4",
    valid:
      "write meters such as 3, from 0.1 to 100, and a factor such as 4, from 1.1 to 100; or none",
    read: TypicalDistance.init(text:))

  package static let calibrate = Setting<BeaconCalibration>(
    "calibrate",
    "What is known of some beacons: UUID[:MAJOR[:MINOR]]@power=-62,exponent=2.4,offset=3.",
    "beacons@values", details: "Any of the three may be left out. May be given several times.",
    valid:
      "write beacons and what is known of them, such as UUID:1:2@power=-62,exponent=2.4,offset=3, "
      + "with a power from -100 to -1 dBm, an exponent from 0.5 to 8 and an offset from -50 to 50 dB",
    read: BeaconCalibration.init)

  package static let power = Setting<Double>.number(
    "power", "The power of a beacon, received at 1 m.", "dBm", in: -100 ... -1,
    kind: "a signal strength in dBm such as -59")
  package static let exponent = Setting<Double>.number(
    "exponent", "The exponent of the path loss of a beacon.", "number",
    in: PathLossModel.exponentRange, kind: "a number such as 2.2")
  package static let offset = Setting<Double>.number(
    "offset", "How much stronger than true a beacon is received.", "dB", in: -50...50,
    kind: "decibels such as 3")
  package static let calibration = [power, exponent, offset]

  package static let address = Setting<BluetoothAddress>(
    "address", "The only sender of a beacon that counts.", "address",
    valid: "write an address such as AA:BB:CC:DD:EE:FF", read: BluetoothAddress.init)

  package static let pin = Setting<Pin>(
    "pin", "The only sender that counts of a beacon that others imitate: UUID:MAJOR:MINOR=ADDRESS.",
    "beacon=address", details: "May be given several times.",
    valid: "write a beacon and its sender's address: UUID:MAJOR:MINOR=AA:BB:CC:DD:EE:FF",
    read: Pin.init)
}

// MARK: Reports

extension Inputs {
  package static let range = Setting<Bool>.flag("range", "Report the distances of the beacons.")
  package static let locate = Setting<Bool>.flag("locate", "Report the place of this machine.")
  package static let heading = Setting<Bool>.flag(
    "heading", "Show the direction of the device too.")
  package static let visits = Setting<Bool>.flag("visits", "Show the visits of places too.")

  package static let quiet = Setting<Bool>.flag(
    "quiet", letter: "q", "Write only errors to standard error.")

  package static let daemon = Setting<DaemonUse>.choice(
    "daemon", "Whether the service for apps receives: auto, where it answers, required or never.",
    "use", standard: .auto)
  package static let always = Setting<Bool>.flag(
    "always", "Let the service keep the regions while the program does not run, and start it.")

  package static let application = Setting<String>.text(
    "application", "The program, as the administrator's rules name it.", "name",
    valid: "write the name of the program")

  package static let interval = Setting<Seconds>.time(
    "interval", "Time between two reports, from 50ms to 1d: 1, 500ms or 1m.", in: 0.05...86400,
    standard: Seconds(1), shown: "1s",
    valid: "write \(Seconds.example), from 50ms to 1d")

  package static let raw = Setting<Bool>.flag(
    "raw", "Show the raw signal and the distance from it beside the smoothed.")

  package static let stateFile = Setting<String>.file(
    "state-file", "Keep regions and their states here, and resume with what is there.",
    valid: "write the name of a file, which stays; - is none",
    isValid: { $0 != "-" })
}

extension ProximityUUID {
  /// Returns the requirement for a proximity UUID, and the reason that the text is not one.
  package static func requirement(for text: String) -> String {
    let digits = text.filter { !"{}- ".contains($0) }
    let requirement =
      "a proximity UUID has 32 hexadecimal digits, such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    if let other = digits.first(where: { !$0.isHexDigit }) {
      return "\(requirement); '\(other)' is not one"
    }
    return digits.isEmpty || digits.count == 32
      ? requirement : "\(requirement); this has \(digits.count)"
  }
}

/// The use of the daemon that receives for all apps of a system.
package enum DaemonUse: String, CaseIterable, Sendable {
  /// The daemon is used where it answers; elsewhere the process receives by itself.
  case auto
  /// The process does not receive by itself.
  case required
  /// The process receives by itself.
  case never
}
