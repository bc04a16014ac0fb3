import Advertising
import Bytes
import TestSupport

/// What a walk over AD structures gave, as values.
struct Walk: Equatable {
  struct Structure: Equatable {
    var type: UInt8
    var data: [UInt8]
    var offset: Int
  }

  var structures: [Structure] = []
  var error: ParseError?

  /// Walks to the end, and once more behind it.
  init(_ bytes: [UInt8], base: Int = 0) {
    var walk = unsafe ADStructures(bytes.span.bytes, base: base)
    do throws(ParseError) {
      while let structure = try walk.next() {
        structures.append(
          Structure(
            type: structure.type.rawValue, data: octets(structure.data), offset: structure.offset))
      }
    } catch {
      self.error = error
    }
    do throws(ParseError) {
      if try walk.next() == nil { isOver = true }
    } catch {
      isOver = false
    }
  }

  /// Whether nothing came after the end or the error.
  private(set) var isOver = false

  init(giving structures: [Structure], error: ParseError? = nil) {
    self.structures = structures
    self.error = error
    isOver = true
  }
}

func octets(_ span: RawSpan) -> [UInt8] {
  (0..<span.byteCount).map { span.littleEndian(UInt8.self, at: $0) }
}

/// Manufacturer-specific data through the iBeacon parser.
func reading(_ bytes: [UInt8]) -> IBeacon.Reading {
  unsafe IBeacon.read(manufacturerData: bytes.span.bytes)
}

/// Service data through the Eddystone parser.
func eddystone(_ bytes: [UInt8], base: Int = 0) throws(ParseError) -> Eddystone? {
  unsafe try Eddystone.read(serviceData: bytes.span.bytes, base: base)
}

/// Manufacturer-specific data through the AltBeacon parser.
func altBeacon(_ bytes: [UInt8]) -> AltBeacon? {
  unsafe AltBeacon.read(manufacturerData: bytes.span.bytes)
}

extension IBeacon {
  /// A frame of any values.
  static func random(using random: inout SplitMix64) -> IBeacon {
    IBeacon(
      identity: BeaconIdentity(
        uuid: ProximityUUID(high: random.next(), low: random.next()),
        major: UInt16(truncatingIfNeeded: random.next()),
        minor: UInt16(truncatingIfNeeded: random.next())),
      measuredPower: Int8(truncatingIfNeeded: random.next()))
  }
}
