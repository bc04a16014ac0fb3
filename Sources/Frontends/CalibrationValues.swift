package import Advertising
package import Ranging
import Regions
package import Scanning
package import ServiceCore

package struct AdapterOffset: Sendable {
  /// The adapter; `nil` for all.
  package var adapter: AdapterName?
  package var decibels: Double

  package init?(_ argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard let last = parts.last, let decibels = Double(last) else { return nil }
    self.decibels = decibels
    guard parts.count > 1 else { return }
    guard parts.count == 2, let adapter = AdapterName(String(parts[0])) else { return nil }
    self.adapter = adapter
  }
}

/// The prior of distances: their median, and the factor of one standard deviation; a factor of 0
/// stands for no prior.
package struct TypicalDistance: Sendable, Hashable {
  package var meters: Double
  package var factor: Double

  package init() {
    let budget = ErrorBudget()
    meters = budget.typicalDistance
    factor = budget.distanceFactor
  }

  /// Reads `3`, `3,4` or `none`.
  package init?(text: String) {
    self.init()
    guard text != "none" else {
      factor = 0
      return
    }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count <= 2, let meters = parts[0], (0.1...100).contains(meters) else { return nil }
    self.meters = meters
    guard parts.count == 2 else { return }
    guard let factor = parts[1], (1.1...100).contains(factor) else { return nil }
    self.factor = factor
  }
}

/// The known sender of a beacon.
package struct Pin: Sendable {
  package var beacon: BeaconIdentity
  package var sender: BluetoothAddress

  package init?(_ argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let beacons = BeaconConstraint(String(parts[0])),
      let major = beacons.major, let minor = beacons.minor,
      let sender = BluetoothAddress(String(parts[1]))
    else { return nil }
    beacon = BeaconIdentity(uuid: beacons.uuid, major: major, minor: minor)
    self.sender = sender
  }
}

package struct BeaconCalibration: Sendable {
  package var beacons: BeaconConstraint
  package var calibration = Calibration()

  package init?(_ argument: String) {
    let parts = argument.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let beacons = BeaconConstraint(String(parts[0])) else { return nil }
    self.beacons = beacons
    var known: Set<Substring> = []
    for pair in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: "=", omittingEmptySubsequences: false)
      guard words.count == 2, known.insert(words[0]).inserted else { return nil }
      do throws(OptionError) {
        try calibration.set(String(words[0]), to: String(words[1]))
      } catch {
        return nil
      }
    }
  }
}

extension Calibration {
  package mutating func set(_ name: String, to text: String) throws(OptionError) {
    switch name {
    case "power": measuredPower = try Inputs.power.value(of: text)
    case "exponent": model = .logDistance(exponent: try Inputs.exponent.value(of: text))
    case "offset": adapterOffset = try Inputs.offset.value(of: text)
    default:
      throw .wrongValue("calibrate", name, requirement: "write power, exponent or offset")
    }
  }
}

extension Calibration {
  package init(
    model: PathLossModel?, environment: Double?, measuredPower: Double?, offsets: [AdapterOffset],
    typicalDistance: TypicalDistance
  ) {
    self.init(
      measuredPower: measuredPower, adapterOffset: offsets.first { $0.adapter == nil }?.decibels,
      model: environment.map { .logDistance(exponent: $0) }
        ?? model.flatMap { $0.name == "log-distance" ? nil : $0 },
      budget: ErrorBudget(
        typicalDistance: typicalDistance.meters, distanceFactor: typicalDistance.factor))
  }
}

extension BeaconService.Configuration {
  package mutating func setCalibration(
    _ calibration: Calibration, of beacons: [(beacons: BeaconConstraint, calibration: Calibration)]
  ) {
    ranging.calibration = calibration
    ranging.beaconCalibrations = beacons
    monitoring.calibration = calibration
    monitoring.beaconCalibrations = beacons
  }
}
