import Advertising
import ArgumentParser
import Frontends
import LiveScanning
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// The calibration of the site, the adapters and the beacons.
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

  /// Checks that adapters with an offset may scan, and reports those that are not present.
  func check(_ source: SourceOptions, isQuiet: Bool) throws {
    guard source.isLive, Settings.current.isGiven("adapter-offset") else { return }
    let names = source.adapter.flatMap(\.names)
    for name in adapterOffset.compactMap(\.adapter) where !names.contains(name) {
      let adapters = (try? Adapter.all()) ?? []
      let meant = adapters.filter { name.matches($0) }
      // A number and an address may name the same adapter.
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

  func apply(to configuration: inout BeaconService.Configuration) {
    var beacons = calibrate.map { (beacons: $0.beacons, calibration: $0.calibration) }
    // The first calibration of a beacon applies, so the command line precedes files.
    for beacon in Settings.current.beacons {
      if beacon.calibration != Calibration() {
        beacons.append((beacon.constraint, beacon.calibration))
      }
      if let sender = beacon.sender { configuration.pins[beacon.identity] = sender }
    }
    for pin in pin { configuration.pins[pin.beacon] = pin.sender }
    configuration.setCalibration(
      Calibration(
        model: model.flatMap { PathLossModel(name: $0) }, environment: environment,
        measuredPower: measuredPower, offsets: adapterOffset), of: beacons)
  }

  private func check(_ option: String, _ value: Double, _ range: ClosedRange<Double>) throws {
    guard !range.contains(value) else { return }
    let (least, most) = (decimal(range.lowerBound, 2), decimal(range.upperBound, 2))
    throw ValidationError("\(option) must be from \(least) to \(most).")
  }
}
