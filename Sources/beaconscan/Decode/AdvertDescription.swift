import Advertising
import Bytes

/// A decoded advert: its structures, the beacons in them, and what is wrong where.
struct AdvertDescription {
  /// One AD structure.
  struct Structure {
    var offset: Int
    var type: ADType
    var data: String
  }

  /// A beacon of any kind that is known.
  enum Beacon {
    case ibeacon(IBeacon)
    case altBeacon(AltBeacon)
    case eddystone(Eddystone)
  }

  /// Something wrong.
  struct Problem {
    var offset: Int
    var reason: String
  }

  /// The kind of the bytes.
  var input: DecodeInput
  /// Address, kind of event and signal strength, where the input has them.
  var header: Header?
  var structures: [Structure] = []
  var beacons: [Beacon] = []
  var problems: [Problem] = []

  /// What stands around advertising data in a report or PDU.
  struct Header {
    var address: BluetoothAddress
    var addressType: AddressType
    var eventType: AdvertisingEventType
    var rssi: Int8?
  }

  init(input: DecodeInput) { self.input = input }

  /// Decodes advertising data.
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
        problems.append(
          Problem(offset: end, reason: "bytes follow the early end and are not significant"))
      }
    } catch {
      problems.append(Problem(offset: error.offset, reason: "AD structure: \(error.reason)"))
      // What is left of an Eddystone frame may still show its kind; of an iBeacon it may not.
      let rest = data.extracting(droppingFirst: error.offset - base + 1)
      if rest.byteCount > 1, rest.littleEndian(UInt8.self, at: 0) == ADType.serviceData16.rawValue,
        let frame = try? Eddystone.read(serviceData: rest.extracting(droppingFirst: 1))
      {
        beacons.append(.eddystone(frame))
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
          beacons.append(.eddystone(frame))
        }
      } catch {
        problems.append(Problem(offset: error.offset, reason: "Eddystone: \(error.reason)"))
      }
    default: break
    }
  }

  /// Decodes manufacturer-specific data.
  mutating func read(manufacturerData data: RawSpan, base: Int = 0) {
    switch IBeacon.read(manufacturerData: data) {
    case .frame(let frame):
      beacons.append(.ibeacon(frame))
      if frame.measuredPower >= 0 || frame.measuredPower < -100 {
        problems.append(
          Problem(
            offset: base + 24,
            reason: "the measured power of \(frame.measuredPower) dBm cannot be: distances use -59")
        )
      }
    case .malformed:
      let have = data.byteCount - 4
      problems.append(
        Problem(
          offset: base + 3,
          reason: "iBeacon: needs the length byte 21 and as many bytes, has "
            + "\(data.littleEndian(UInt8.self, at: 3)) and \(have)"))
    case .other:
      if let frame = AltBeacon.read(manufacturerData: data) { beacons.append(.altBeacon(frame)) }
    }
  }
}

extension AdvertDescription: Sendable {}
