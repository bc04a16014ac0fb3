import Adapters
import Advertising
import ArgumentParser
import HCISockets
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// What is known of the site, the adapter and the beacons.
struct CalibrationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How signal falls with distance: log-distance, android-nexus5 or android-2013.",
      valueName: "name"), completion: .list(PathLossModel.names))
  var model: String?

  @Option(
    help: ArgumentHelp(
      "The site's environment factor, the exponent of log-distance: 2 is free space.",
      valueName: "number"))
  var environment: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The power received at 1 m, in place of what the beacons state.", valueName: "dBm"))
  var measuredPower: Double?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "How much stronger than true the adapter receives; for one of several, hci1=3.",
      discussion:
        "May be given several times, once for each adapter and once for all. That of one adapter "
        + "counts where this adapter receives.",
      valueName: "[adapter=]dB"))
  var adapterOffset: [AdapterOffset] = []

  @Option(
    help: ArgumentHelp(
      "What is known of some beacons: UUID[:MAJOR[:MINOR]]@power=-62,exponent=2.4,offset=3.",
      discussion: "Any of the three may be left out. May be given several times.",
      valueName: "beacons@values"))
  var calibrate: [BeaconCalibration] = []

  @Option(
    help: ArgumentHelp(
      "The only sender that counts of a beacon that others imitate: UUID:MAJOR:MINOR=ADDRESS.",
      discussion: "May be given several times.", valueName: "beacon=address"))
  var pin: [Pin] = []

  func validate() throws {
    if let model, PathLossModel(name: model) == nil {
      throw ValidationError(
        "--model must be one of \(PathLossModel.names.joined(separator: ", ")), not '\(model)'.")
    }
    if environment != nil, let model, model != "log-distance" {
      throw ValidationError("--environment belongs to --model log-distance.")
    }
    if let environment { try check("--environment", environment, PathLossModel.exponentRange) }
    if let measuredPower { try check("--measured-power", measuredPower, -100 ... -1) }
    for offset in adapterOffset { try check("--adapter-offset", offset.decibels, -50...50) }
    for offset in adapterOffset
    where adapterOffset.count(where: { $0.adapter == offset.adapter }) > 1 {
      throw ValidationError(
        "--adapter-offset is given twice for \(offset.adapter?.description ?? "all adapters").")
    }
  }

  /// Checks that an adapter that has an offset can have a part in a live scan, and reports one that may only come.
  func check(_ source: SourceOptions, isQuiet: Bool) throws {
    guard source.isLive, Settings.current.isGiven("adapter-offset") else { return }
    let names = source.adapter.flatMap(\.names)
    for name in adapterOffset.compactMap(\.adapter) where !names.contains(name) {
      let adapters = (try? Adapter.all()) ?? []
      let meant = adapters.filter { name.matches($0) }
      // A number and an address may be the same adapter.
      if meant.contains(where: { names.isEmpty || AdapterSelection.these(names).includes($0) }) {
        continue
      }
      guard !names.isEmpty else {
        if adapters.isEmpty || isQuiet { continue }
        let absence = AdapterSelection.these([name]).absence(among: adapters)
        printError(
          "beaconscan: --adapter-offset \(name)=…: \(absence); it counts once \(name) receives")
        continue
      }
      throw CommandError(
        .usage,
        "--adapter-offset \(name)=… needs \(name), which --adapter leaves out; add --adapter "
          + "\(name), or name \(names.map(\.description).joined(separator: " or "))")
    }
  }

  /// Sets what is known of the site, the adapter and some beacons.
  func apply(to configuration: inout BeaconService.Configuration) {
    let calibration = Calibration(
      measuredPower: measuredPower,
      adapterOffset: adapterOffset.first { $0.adapter == nil }?.decibels,
      model: environment.map { .logDistance(exponent: $0) }
        ?? model.flatMap { $0 == "log-distance" ? nil : PathLossModel(name: $0) })
    var beacons = calibrate.map { (beacons: $0.beacons, calibration: $0.calibration) }
    // What the command line says of a beacon comes first, and stands.
    for beacon in Settings.current.beacons {
      if beacon.calibration != Calibration() {
        beacons.append((beacon.constraint, beacon.calibration))
      }
      if let sender = beacon.sender { configuration.pins[beacon.identity] = sender }
    }
    for pin in pin { configuration.pins[pin.beacon] = pin.sender }
    configuration.ranging.calibration = calibration
    configuration.ranging.beaconCalibrations = beacons
    configuration.monitoring.calibration = calibration
    configuration.monitoring.beaconCalibrations = beacons
  }

  private func check(_ option: String, _ value: Double, _ range: ClosedRange<Double>) throws {
    guard !range.contains(value) else { return }
    let (least, most) = (decimal(range.lowerBound, 2), decimal(range.upperBound, 2))
    throw ValidationError("\(option) must be from \(least) to \(most).")
  }
}

/// How much stronger than true an adapter receives.
struct AdapterOffset: ExpressibleByArgument {
  /// Which one; `nil` for all.
  var adapter: AdapterName?
  var decibels: Double

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard let last = parts.last, let decibels = Double(last) else { return nil }
    self.decibels = decibels
    guard parts.count > 1 else { return }
    guard parts.count == 2, let adapter = AdapterName(String(parts[0])) else { return nil }
    self.adapter = adapter
  }
}

/// The sender that a beacon is known to have.
struct Pin: ExpressibleByArgument {
  var beacon: BeaconIdentity
  var sender: BluetoothAddress

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let beacons = BeaconConstraint(String(parts[0])),
      let major = beacons.major, let minor = beacons.minor,
      let sender = BluetoothAddress(String(parts[1]))
    else { return nil }
    beacon = BeaconIdentity(uuid: beacons.uuid, major: major, minor: minor)
    self.sender = sender
  }
}

/// What is known of some beacons.
struct BeaconCalibration: ExpressibleByArgument {
  var beacons: BeaconConstraint
  var calibration = Calibration()

  init?(argument: String) {
    let parts = argument.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let beacons = BeaconConstraint(String(parts[0])) else { return nil }
    self.beacons = beacons
    for pair in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: "=", omittingEmptySubsequences: false)
      guard words.count == 2, let value = Double(words[1]) else { return nil }
      guard calibration.set(String(words[0]), to: value) else { return nil }
    }
  }
}

extension Calibration {
  /// Sets `power`, `exponent` or `offset`, and returns whether the value can be.
  mutating func set(_ word: String, to value: Double) -> Bool {
    switch word {
    case "power" where (-100 ... -1).contains(value): measuredPower = value
    case "exponent" where PathLossModel.exponentRange.contains(value):
      model = .logDistance(exponent: value)
    case "offset" where abs(value) <= 50: adapterOffset = value
    default: return false
    }
    return true
  }

  /// What ``set(_:to:)`` takes.
  static let validValues =
    "a power from -100 to -1 dBm, an exponent from 0.5 to 8, an offset from -50 to 50 dB"
}
