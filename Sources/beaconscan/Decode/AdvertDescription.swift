import Advertising
import Bytes

/// A decoded advert: its structures, beacons and faults.
struct AdvertDescription: Sendable {
  struct Structure {
    var offset: Int
    var type: ADType
    var data: String
  }

  struct Problem {
    var offset: Int
    var reason: String
  }

  var input: DecodeInput
  /// The address, event type and signal strength, if the input has them.
  var header: Header?
  var structures: [Structure] = []
  var beacons: [Beacon] = []
  var problems: [Problem] = []

  struct Header {
    var address: BluetoothAddress
    var addressType: AddressType
    var eventType: AdvertisingEventType
    var rssi: Int8?
  }

  mutating func report(_ reason: String, at offset: Int) {
    problems.append(Problem(offset: offset, reason: reason))
  }

  mutating func read(advertisingData data: RawSpan, base: Int = 0) {
    var walk = ADStructures(data, base: base)
    var end = base
    do throws(ParseError) {
      while let structure = try walk.next() {
        end = structure.offset + 2 + structure.data.byteCount
        structures.append(
          Structure(
            offset: structure.offset, type: structure.type,
            data: Hexadecimal.text(of: structure.data)))
        read(structure)
      }
      let rest = data.extracting(droppingFirst: end - base)
      if (0..<rest.byteCount).contains(where: { rest.littleEndian(UInt8.self, at: $0) != 0 }) {
        report("bytes follow the early end and are not significant", at: end)
      }
    } catch {
      report("AD structure: \(error.reason)", at: error.offset)
      // The rest of a cut Eddystone frame may still show its kind. That of an iBeacon may not.
      let rest = data.extracting(droppingFirst: error.offset - base + 1)
      if rest.byteCount > 1, rest.littleEndian(UInt8.self, at: 0) == ADType.serviceData16.rawValue,
        let frame = try? Eddystone.read(serviceData: rest.extracting(droppingFirst: 1))
      {
        beacons.append(Beacon(frame))
      }
    }
  }

  private mutating func read(_ structure: ADStructure) {
    switch structure.type {
    case .manufacturerSpecificData:
      read(manufacturerData: structure.data, base: structure.offset + 2)
    case .serviceData16:
      do throws(ParseError) {
        if let frame = try Eddystone.read(serviceData: structure.data, base: structure.offset + 2) {
          beacons.append(Beacon(frame))
        }
      } catch {
        report("Eddystone: \(error.reason)", at: error.offset)
      }
    default: break
    }
  }

  mutating func read(manufacturerData data: RawSpan, base: Int = 0) {
    switch IBeacon.read(manufacturerData: data) {
    case .frame(let frame):
      beacons.append(Beacon(frame))
      if frame.measuredPower >= 0 || frame.measuredPower < -100 {
        report(
          "the measured power of \(frame.measuredPower) dBm cannot be: distances use -59",
          at: base + 24)
      }
    case .malformed:
      report(
        "iBeacon: needs the length byte 21 and as many bytes, has "
          + "\(data.littleEndian(UInt8.self, at: 3)) and \(data.byteCount - 4)", at: base + 3)
    case .other:
      if let frame = AltBeacon.read(manufacturerData: data) { beacons.append(Beacon(frame)) }
    }
  }
}
