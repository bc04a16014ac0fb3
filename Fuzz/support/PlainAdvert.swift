import Advertising
import Scanning

/// Advertising data read the plainest way, over an array: what the library's answers are compared
/// with. It is written from the Core Specification and Apple's, not from the library.
struct PlainAdvert {
  struct Structure: Equatable {
    var offset: Int
    var type: UInt8
    var data: [UInt8]
  }

  var structures: [Structure] = []
  /// Where a structure that runs past the data begins.
  var overrun: Int?
  /// The 21 bytes from the proximity UUID to the measured power, of each iBeacon.
  var frames: [[UInt8]] = []
  /// Structures of Apple's beacon type that are no iBeacon.
  var malformed = 0

  init(_ data: [UInt8]) {
    var index = 0
    while index < data.count, data[index] != 0 {
      let end = index + 1 + Int(data[index])
      if end > data.count {
        overrun = index
        break
      }
      structures.append(
        Structure(offset: index, type: data[index + 1], data: Array(data[(index + 2)..<end])))
      index = end
    }
    for structure in structures where structure.type == 0xFF {
      let data = structure.data
      guard data.count >= 4, data.starts(with: [0x4C, 0x00, 0x02]) else { continue }
      if Self.isIBeacon(data) {
        frames.append(Array(data[4..<25]))
      } else {
        malformed += 1
      }
    }
  }

  /// Whether manufacturer-specific data is an iBeacon.
  static func isIBeacon(_ data: [UInt8]) -> Bool {
    data.starts(with: [0x4C, 0x00, 0x02, 0x15]) && (data.count == 25 || data.count == 26)
  }
}

extension IBeacon {
  /// The bytes that ``PlainAdvert/frames`` have.
  var frame: [UInt8] { Array(manufacturerData.dropFirst(4)) }
}

/// A sighting as the plain readers give it.
struct PlainSighting: Equatable {
  var frame: [UInt8]
  var rssi: Int8?
  var address: UInt64
  var addressType: UInt8
  var time: Int64
  var adapter: UInt16

  init(
    frame: [UInt8], rssi: Int8?, address: UInt64, addressType: UInt8, time: Int64, adapter: UInt16
  ) {
    self.frame = frame
    self.rssi = rssi
    self.address = address
    self.addressType = addressType
    self.time = time
    self.adapter = adapter
  }

  init(_ sighting: Sighting) {
    let beacon = IBeacon(identity: sighting.beacon, measuredPower: sighting.measuredPower)
    self.init(
      frame: beacon.frame, rssi: sighting.rssi, address: sighting.address.rawValue,
      addressType: sighting.addressType.rawValue, time: sighting.time.nanoseconds,
      adapter: sighting.adapter)
  }
}

/// What must be so of any collector, whatever it was told.
func requireSound(_ collector: borrowing SightingCollector, packets: Int) {
  let counts = collector.counts
  require(counts.sightings == collector.sightings.count, "sightings counted and given differ")
  require(counts.advertisingPackets <= packets, "more advertising packets than packets")
  require(counts.reports == 0 || counts.advertisingPackets > 0, "reports out of no packet")
  // A malformed frame has at least six bytes of an advert's 1,650.
  require(
    counts.sightings + counts[.malformedIBeacon] <= 275 * counts.reports || packets <= 1,
    "more frames than the reports' bytes hold")
  require(
    counts[.malformedADStructure] <= counts.reports, "more refused walks than reports")
  for refusal in Refusal.allCases { require(counts[refusal] >= 0, "a negative count") }
}

/// The sum of everything that was refused.
func refusals(_ counts: ScanCounts) -> [Int] {
  Refusal.allCases.map { counts[$0] }
}
