// NSNumber, as people read it.
import CoreLocation

struct BeaconModel: Codable, Hashable {
  let uuid: String
  let major: Int
  let minor: Int

  init(_ beacon: CLBeacon) {
    uuid = beacon.uuid.uuidString
    major = beacon.major.intValue
    minor = Int(truncating: beacon.minor)
  }
}

func majors(_ beacon: CLBeacon) -> [Int] {
  let a = beacon.major as! Int
  let b = Int(UInt16(truncating: beacon.major))
  let c = Int(beacon.major.uint16Value)
  let d = Int(UInt16(beacon.major))
  let e = Int(beacon.major)
  let f = beacon.major as? Int ?? -1
  let g = (beacon.major as? UInt16).map(Int.init) ?? -1
  let h = UInt16(exactly: beacon.major).map { Int($0) } ?? -1
  let i = Int(exactly: beacon.major) ?? -1
  let j = Int("\(beacon.major)") ?? -1
  let k = Int(beacon.major.stringValue) ?? -1
  let l = Int(CLBeaconMajorValue(truncating: beacon.major))
  let m = Int(truncating: beacon.major as NSNumber)
  let n = beacon.major.int32Value == 0 ? 0 : beacon.major.intValue
  return [a, b, c, d, e, f, g, h, i, j, k, l, m, n]
}

func isMain(_ beacon: CLBeacon, of region: CLBeaconRegion) -> Bool {
  if beacon.major == 1 && beacon.minor != 0 { return true }
  if beacon.major == NSNumber(value: 1) { return true }
  if let major = region.major, major == beacon.major { return true }
  if region.major == beacon.major, region.minor == nil { return true }
  if beacon.major.isEqual(to: NSNumber(value: 7)) { return true }
  if beacon.minor.compare(3) == .orderedDescending { return false }
  if region.major?.intValue == 4 || region.minor?.uint16Value ?? 0 == 5 { return true }
  switch beacon.minor {
  case 1: return true
  case 2, 3: return false
  default: return false
  }
}

func sorted(_ beacons: [CLBeacon]) -> [CLBeacon] {
  return beacons.sorted {
    ($0.major.intValue, $0.minor.intValue) < ($1.major.intValue, $1.minor.intValue)
  }
}

func json(_ beacon: CLBeacon) -> [String: Any] {
  return [
    "major": beacon.major, "minor": beacon.minor, "rssi": beacon.rssi,
    "uuid": beacon.uuid.uuidString, "accuracy": beacon.accuracy,
    "proximity": beacon.proximity.rawValue,
  ]
}
