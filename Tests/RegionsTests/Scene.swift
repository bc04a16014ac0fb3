import Advertising
import Regions
import Scanning

let home = ProximityUUID(high: 1, low: 2)

func at(_ seconds: Double) -> MonotonicTime {
  MonotonicTime(nanoseconds: Int64((seconds * 1e9).rounded()))
}

/// The first moment beyond one: what is due then has exceeded its timeout.
func after(_ seconds: Double) -> MonotonicTime { at(seconds).advanced(by: 1) }

func sighting(
  _ seconds: Double, minor: UInt16 = 1, major: UInt16 = 1, uuid: ProximityUUID = home,
  rssi: Int8? = -60, power: Int8 = -59, address: UInt64 = 1
) -> Sighting {
  Sighting(
    time: at(seconds), wallTime: at(seconds).wallClockTime(.zero),
    beacon: BeaconIdentity(uuid: uuid, major: major, minor: minor), measuredPower: power,
    rssi: rssi, address: BluetoothAddress(rawValue: address), addressType: .random)
}

/// One region, and beacons drawn in time.
///
/// Each line is a beacon, each character a second: `.` is silence, a letter a sighting, the louder the
/// nearer to `a`: `a` is -40 dBm, and each letter further 5 dB less; `?` is one without signal strength.
struct Scene {
  var monitor = RegionMonitor()
  var rules: RegionRules

  init(_ rules: RegionRules, constraint: BeaconConstraint = BeaconConstraint(uuid: home)) throws {
    self.rules = rules
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: constraint, rules: rules), assuming: .outside)
  }

  /// Plays the lines; the answer has what changed, such as `5 enter sighting`.
  mutating func play(_ lines: String...) -> [String] {
    var told: [RegionTransition] = []
    let rows = lines.map { Array($0.utf8) }
    for second in 0..<(rows.map(\.count).max() ?? 0) {
      told += monitor.advance(to: at(Double(second)))
      for (row, cells) in rows.enumerated() where second < cells.count {
        let cell = cells[second]
        if cell == UInt8(ascii: ".") { continue }
        let rssi =
          cell == UInt8(ascii: "?") ? nil : Int8(-40 - 5 * (Int(cell) - Int(UInt8(ascii: "a"))))
        told += monitor.receive(sighting(Double(second), minor: UInt16(row + 1), rssi: rssi))
      }
    }
    return told.compactMap(describe)
  }
}

/// `5 enter sighting`; nothing for a determination.
func describe(_ transition: RegionTransition) -> String? {
  let seconds = Double(transition.time.nanoseconds) / 1e9
  let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  return switch transition.change {
  case .enter: "\(time) enter \(transition.reason.rule.rawValue)"
  case .exit: "\(time) exit \(transition.reason.rule.rawValue)"
  case .determined: nil
  }
}
