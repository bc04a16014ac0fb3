import Advertising
import Bytes
import HCIPackets
import TestSupport
import Testing

/// What other projects' tests hold is found by these parsers.
@Suite struct PublishedVectorTests {
  /// The beacons of an advert, or of the adverts of an event.
  struct Found {
    var frames: [IBeacon] = []
    var altBeacons: [AltBeacon] = []
    var eddystones: [Eddystone] = []
    var address: String?
    var rssi: Int8?
    var cut: ParseError?

    mutating func read(_ data: [UInt8]) {
      let walk = Walk(data)
      cut = walk.error
      for structure in walk.structures {
        switch ADType(rawValue: structure.type) {
        case .manufacturerSpecificData: read(manufacturerData: structure.data)
        case .serviceData16:
          if let frame = (try? eddystone(structure.data)) ?? nil { eddystones.append(frame) }
        default: break
        }
      }
    }

    mutating func read(manufacturerData data: [UInt8]) {
      if case .frame(let frame) = reading(data) { frames.append(frame) }
      if let frame = altBeacon(data) { altBeacons.append(frame) }
    }

    mutating func read(event: [UInt8]) throws {
      let bytes = Array(event)
      guard var walk = unsafe AdvertisingEvent(bytes.span.bytes) else {
        Issue.record("not an advertising event")
        return
      }
      let isExtended = walk.isExtended
      #expect(!isExtended)
      while let report = try walk.nextReport() {
        address = "\(report.address)"
        rssi = report.rssi
        read(octets(report.data))
      }
    }
  }

  @Test(arguments: Vector.all)
  func isFound(vector: Vector) throws {
    let bytes = try Hexadecimal.bytes(in: vector.hex)
    var found = Found()
    switch vector.kind {
    case .advertisingData: found.read(bytes)
    case .manufacturerData: found.read(manufacturerData: bytes)
    case .h4: try found.read(event: Array(bytes.dropFirst()))
    case .commandParameters: found.read(Array(bytes.dropFirst().prefix(Int(bytes[0]))))
    }
    if let address = vector.address { #expect(found.address == address) }
    if let rssi = vector.rssi { #expect(found.rssi == rssi) }
    check(found, vector.expected)
  }

  private func check(_ found: Found, _ expected: Vector.Expected) {
    switch expected {
    case .iBeacon(let uuid, let major, let minor, let power, let trailing):
      #expect(
        found.frames.map(\.identity.description) == ["\(uuid):\(major):\(minor)"])
      #expect(found.frames.map(\.measuredPower) == [power])
      #expect(found.frames.map(\.hasTrailingByte) == [trailing])
    case .altBeacon(let uuid, let major, let minor, let power):
      #expect(
        found.altBeacons.map(\.identity.description) == ["\(uuid):\(major):\(minor)"])
      #expect(found.altBeacons.map(\.measuredPower) == [power])
      #expect(found.frames.isEmpty)
    case .url(let url, let power):
      #expect(found.eddystones == [.url(txPower: power, url: url)])
    case .telemetry(let millivolts, let adverts, let tenths):
      guard case .telemetry(millivolts, _, adverts, let uptime)? = found.eddystones.first else {
        Issue.record("\(found.eddystones)")
        return
      }
      #expect(uptime == Double(tenths) / 10)
    case .cutTelemetry:
      #expect(found.eddystones.isEmpty && found.cut?.offset == 7)
    case .eid(let identifier, let power):
      #expect(found.eddystones == [.eid(txPower: power, identifier: identifier)])
    case .notAnIBeacon:
      #expect(found.frames.isEmpty)
    case .notABeacon:
      #expect(found.frames.isEmpty && found.altBeacons.isEmpty && found.eddystones.isEmpty)
    }
  }

  @Test func thereAreAllOfThem() {
    #expect(Vector.all.count == 38)
    #expect(Set(Vector.all.map(\.name)).count == 38)
  }
}
