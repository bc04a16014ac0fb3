import Advertising
import Scanning

/// Events and sightings in memory, the same in every run: 1,000 beacons in turn by a stride, each
/// 100 ms, and every third event of another device.
struct Workload {
  static let beacons = 1000
  static let count = 4096

  /// HCI events from their code on, one behind the other.
  private(set) var bytes: [UInt8] = []
  /// Where each event begins and ends.
  private(set) var events: [Range<Int>] = []
  /// A link-layer packet for each event.
  private(set) var packets: [[UInt8]] = []
  /// The same as sightings, all iBeacons.
  private(set) var sightings: [Sighting] = []

  init(beacons: Int = Workload.beacons) {
    for index in 0..<Self.count {
      let number = index &* 7919 % beacons
      let frame = IBeacon(identity: Self.identity(number), measuredPower: -59)
      // Apple's Nearby stands for the others.
      let data =
        index % 3 == 2
        ? [2, 1, 6, 0x0A, 0xFF, 0x4C, 0, 0x10, 5, 1, 2, 3, 4, 5] : frame.advertisingData
      let rssi = Int8(-50 - number % 40 - index / 7 % 5)
      let address = BluetoothAddress(rawValue: UInt64(number))
      let body = [0x02, 1, 3, 1] + address.littleEndianBytes + [UInt8(data.count)] + data
      let start = bytes.count
      bytes += [0x3E, UInt8(body.count + 1)] + body + [UInt8(bitPattern: rssi)]
      events.append(start..<bytes.count)
      let pdu = [0x42, UInt8(6 + data.count)] + address.littleEndianBytes + data
      packets.append([0xD6, 0xBE, 0x89, 0x8E] + pdu + Self.crc(pdu))
      sightings.append(
        Sighting(
          time: MonotonicTime(nanoseconds: 0), wallTime: WallClockTime(nanoseconds: 0),
          beacon: frame.identity, measuredPower: -59, rssi: rssi, address: address,
          addressType: .random))
    }
  }

  static func identity(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(
      uuid: ProximityUUID(high: 0xB5B1_82C7_EAB1_4988, low: 0xAA99_B5C1_5170_08D9),
      major: UInt16(number >> 16), minor: UInt16(truncatingIfNeeded: number))
  }

  private static func crc(_ bytes: [UInt8]) -> [UInt8] {
    var register: UInt32 = 0xAA_AAAA
    for byte in bytes {
      register ^= UInt32(byte)
      for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0xDA_6000 : 0) }
    }
    return [UInt8(register & 0xFF), UInt8(register >> 8 & 0xFF), UInt8(register >> 16)]
  }
}
