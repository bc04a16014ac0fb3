import Advertising
import ArgumentParser
import Frontends
import LiveScanning
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

struct CalibrationOptions: ParsableArguments {
  @Option(Inputs.model.rare) var model: String?
  @Option(Inputs.environment) var environment: Double?
  @Option(Inputs.measuredPower.rare) var measuredPower: Double?
  @Option(Inputs.typicalDistance.rare) var typicalDistance: TypicalDistance
  @Option(Inputs.adapterOffset.rare) var adapterOffset: [AdapterOffset]
  @Option(Inputs.calibrate.rare) var calibrate: [BeaconCalibration]
  @Option(Inputs.pin.rare) var pin: [Pin]

  func validate() throws {
    if environment != nil, let model, model != "log-distance" {
      throw ValidationError("--environment belongs to --model log-distance.")
    }
    for offset in adapterOffset
    where adapterOffset.count(where: { $0.adapter == offset.adapter }) > 1 {
      throw ValidationError(
        "--adapter-offset is given twice for \(offset.adapter?.description ?? "all adapters").")
    }
  }

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
        measuredPower: measuredPower, offsets: adapterOffset, typicalDistance: typicalDistance),
      of: beacons)
  }
}
