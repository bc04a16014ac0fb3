/// Writes a recording for the benchmarks, the same for the same numbers.
///
///     generate FILE FORMAT REPORTS BEACONS SEED
///
/// Of 100 events about 10 are extended reports, 5 hold two legacy reports and 1 is a host's command
/// instead; 10,000 events come in a second.
@main
struct Generate {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.count == 5, let path = words.first,
      let format = CaptureFile.Format(rawValue: CommandLine.arguments[2]),
      let reports = Int(CommandLine.arguments[3]), let beacons = Int(CommandLine.arguments[4]),
      let seed = UInt64(CommandLine.arguments[5]), beacons > 0, beacons <= 1 << 24
    else { fatalError("usage: generate FILE btsnoop|pcap|pcapng REPORTS BEACONS SEED") }
    guard let file = CaptureFile(path: path, format: format) else {
      fatalError("cannot create \(path)")
    }
    write(reports, to: file, Air(beacons: beacons, seed: seed))
    file.flush()
  }

  private static func write(_ reports: Int, to file: CaptureFile, _ air: consuming Air) {
    var time: UInt64 = 1_767_225_600_000_000  // 2026-01-01
    var left = reports
    while left > 0 {
      time += UInt64(50 + air.random(100))
      switch air.random(100) {
      case 0:
        // LE Set Advertising Data, which holds a whole iBeacon: the host's, nobody heard it.
        let data = air.advert().data.prefix(31)
        let filler = Array(repeating: UInt8(0), count: 31 - data.count)
        file.write(
          [0x01, 0x08, 0x20, 32, UInt8(data.count)] + data + filler, at: time, isReceived: false)
      case 1..<11:
        file.write(extended(air.advert()), at: time)
        left -= 1
      case 11..<16 where left > 1:
        let pair = [air.advert(), air.advert()]
        file.write(legacy(pair), at: time)
        left -= 2
      default:
        file.write(legacy([air.advert()]), at: time)
        left -= 1
      }
    }
  }

  private static func address(_ sender: Int) -> [UInt8] {
    (0..<4).map { UInt8(sender >> (8 * $0) & 0xFF) } + [0xBE, 0xC0]
  }

  /// LE Advertising Report.
  private static func legacy(_ adverts: [(data: [UInt8], sender: Int, rssi: Int)]) -> [UInt8] {
    var body: [UInt8] = [0x02, UInt8(adverts.count)]
    for advert in adverts {
      body += [0x03, 0x01] + address(advert.sender) + [UInt8(advert.data.count)] + advert.data
      body.append(UInt8(bitPattern: Int8(advert.rssi)))
    }
    return [0x04, 0x3E, UInt8(body.count)] + body
  }

  /// LE Extended Advertising Report, complete, of a legacy PDU.
  private static func extended(_ advert: (data: [UInt8], sender: Int, rssi: Int)) -> [UInt8] {
    var body: [UInt8] = [0x0D, 0x01, 0x10, 0x00, 0x01] + address(advert.sender)
    body += [1, 0, 0xFF, 127, UInt8(bitPattern: Int8(advert.rssi)), 0, 0, 0, 0, 0, 0, 0, 0, 0]
    body += [UInt8(advert.data.count)] + advert.data
    return [0x04, 0x3E, UInt8(body.count)] + body
  }
}
