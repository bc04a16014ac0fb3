/// What is on air: beacons with levels of their own, and other devices, drawn by a seeded generator
/// so that the same numbers give the same bytes.
struct Air {
  private var state: UInt64
  private let beacons: Int

  init(beacons: Int, seed: UInt64) {
    self.beacons = beacons
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  /// xorshift64*.
  mutating func random(_ bound: Int) -> Int {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
  }

  /// Advertising data, its sender's number and its signal in dBm: of 100, 70 are iBeacons.
  mutating func advert() -> (data: [UInt8], sender: Int, rssi: Int) {
    guard random(100) >= 30 else { return other() }
    let number = random(beacons)
    // Levels from -50 to -89; the noise is about normal, with a deviation of 4 dB.
    let level = -50 - number % 40
    let noise = random(9) + random(9) + random(9) - 12
    return (Self.beacon(number), number, max(-127, min(20, level + noise)))
  }

  /// An advert that is no iBeacon; three of its ten kinds are damaged.
  private mutating func other() -> (data: [UInt8], sender: Int, rssi: Int) {
    let sender = 1 << 24 | random(5000)
    let rssi = -60 - random(35)
    let flags: [UInt8] = [2, 1, 6]
    switch random(10) {
    case 0, 1:  // Apple's Nearby
      let tail = (0..<5).map { _ in UInt8(random(256)) }
      return (flags + [0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05] + tail, sender, rssi)
    case 2:  // a name and a power
      return (flags + [7, 9] + Array("sensor".utf8) + [2, 0x0A, 4], sender, rssi)
    case 3:  // Eddystone-UID
      let head: [UInt8] = [3, 3, 0xAA, 0xFE, 0x15, 0x16, 0xAA, 0xFE, 0x00, 0xE7]
      return (flags + head + (0..<16).map { _ in UInt8(random(256)) } + [0], sender, rssi)
    case 4:  // AltBeacon
      let head: [UInt8] = [0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC]
      return (flags + head + (0..<22).map { _ in UInt8(random(256)) }, sender, rssi)
    case 5:  // another company's data
      return ([0x0B, 0xFF, 0x59, 0x00] + (0..<8).map { _ in UInt8(random(256)) }, sender, rssi)
    case 6: return ([], sender, rssi)
    case 7:  // an iBeacon that is cut off
      return (Array(Self.beacon(random(beacons)).dropLast(1 + random(20))), sender, rssi)
    case 8:  // Apple's beacon type, too short
      return (flags + [0x0A, 0xFF, 0x4C, 0x00, 0x02, 0x15, 1, 1, 1, 1, 1], sender, rssi)
    default:  // 0x16 where 0x15 belongs
      var data = Self.beacon(random(beacons))
      data[8] = 0x16
      return (data, sender, rssi)
    }
  }

  /// Flags and the frame of a beacon; its UUID tells its 65,536 apart from the next.
  private static func beacon(_ number: Int) -> [UInt8] {
    let uuid: [UInt8] = [
      0xB5, 0xB1, 0x82, 0xC7, 0xEA, 0xB1, 0x49, 0x88, 0xAA, 0x99, 0xB5, 0xC1, 0x51, 0x70, 0x08,
    ]
    let tail: [UInt8] = [
      UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), 0, 0, UInt8(number & 0xFF), 0xC5,
    ]
    return [2, 1, 6, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + uuid + tail
  }
}
