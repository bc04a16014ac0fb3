// What an app hands to Core Bluetooth to be a beacon, and regions in archives and defaults.
import CoreLocation

class Advertiser {
  let region: CLBeaconRegion
  init(uuid: UUID, major: UInt16, minor: UInt16) {
    region = CLBeaconRegion(uuid: uuid, major: major, minor: minor, identifier: "me")
  }
  func advertisement(power: Int?) -> [String: Any]? {
    let data = region.peripheralData(withMeasuredPower: power as NSNumber?)
    return data as? [String: Any]
  }
  func payload() -> Data? {
    let data: NSMutableDictionary = region.peripheralData(withMeasuredPower: nil)
    return data["kCBAdvDataAppleBeaconKey"] as? Data
  }
}

func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
  let data = try NSKeyedArchiver.archivedData(
    withRootObject: object, requiringSecureCoding: true)
  return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
}

func save(_ regions: [CLBeaconRegion], at url: URL) throws {
  let data = try NSKeyedArchiver.archivedData(
    withRootObject: regions as NSArray, requiringSecureCoding: false)
  try data.write(to: url)
}
