package import Bytes

/// An Eddystone frame: service data of the 16-bit UUID 0xFEAA, as Google's Eddystone protocol
/// specification defines it. It is shown, but not ranged.
package enum Eddystone: Hashable, Sendable {
  /// Eddystone-UID: power at 0 m in dBm, a 10-byte namespace and a 6-byte instance, in hexadecimal.
  case uid(txPower: Int8, namespace: String, instance: String)
  /// Eddystone-URL: power at 0 m in dBm, and the expanded address.
  case url(txPower: Int8, url: String)
  /// Eddystone-TLM, version 0: mV, °C (`nil` if unsupported), adverts and seconds since power-up.
  case telemetry(voltage: UInt16, temperature: Double?, adverts: UInt32, uptime: Double)
  /// Eddystone-TLM of another version: encrypted or unknown.
  case otherTelemetry(version: UInt8)
  /// Eddystone-EID: power at 0 m in dBm, and the ephemeral identifier in hexadecimal.
  case eid(txPower: Int8, identifier: String)

  package static let serviceUUID: UInt16 = 0xFEAA

  /// Reads service data from the 16-bit UUID on; returns `nil` for another service or frame type.
  package static func read(serviceData data: RawSpan, base: Int = 0) throws(ParseError) -> Self? {
    var cursor = ByteCursor(data, base: base)
    guard cursor.remaining >= 3, try cursor.readLittleEndian(UInt16.self) == serviceUUID else {
      return nil
    }
    switch try cursor.readUInt8() {
    case 0x00:
      let power = try cursor.readInt8()
      let namespace = Hexadecimal.text(of: try cursor.read(10))
      return .uid(
        txPower: power, namespace: namespace, instance: Hexadecimal.text(of: try cursor.read(6)))
    case 0x10: return .url(txPower: try cursor.readInt8(), url: try readURL(&cursor))
    case 0x20: return try readTelemetry(&cursor)
    case 0x30:
      return .eid(
        txPower: try cursor.readInt8(), identifier: Hexadecimal.text(of: try cursor.read(8)))
    default: return nil
    }
  }

  private static func readTelemetry(_ cursor: inout ByteCursor) throws(ParseError) -> Self {
    let version = try cursor.readUInt8()
    guard version == 0 else { return .otherTelemetry(version: version) }
    let voltage = try cursor.readBigEndian(UInt16.self)
    let temperature = try cursor.readBigEndian(Int16.self)  // signed 8.8 fixed point
    let adverts = try cursor.readBigEndian(UInt32.self)
    let tenths = try cursor.readBigEndian(UInt32.self)
    return .telemetry(
      voltage: voltage, temperature: temperature == .min ? nil : Double(temperature) / 256,
      adverts: adverts, uptime: Double(tenths) / 10)
  }

  private static func readURL(_ cursor: inout ByteCursor) throws(ParseError) -> String {
    let schemes = ["http://www.", "https://www.", "http://", "https://"]
    let expansions = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]
    let offset = cursor.offset
    let scheme = Int(try cursor.readUInt8())
    guard scheme < schemes.count else {
      throw ParseError(.invalid("the URL scheme is not one of Eddystone's four"), at: offset)
    }
    var url = schemes[scheme]
    while cursor.remaining > 0 {
      let offset = cursor.offset
      let code = try cursor.readUInt8()
      switch Int(code) {
      case 0..<7: url += expansions[Int(code)] + "/"
      case 7..<14: url += expansions[Int(code) - 7]
      case 0x21...0x7E: url.append(Character(UnicodeScalar(code)))
      default:
        throw ParseError(.invalid("the URL holds a byte that Eddystone reserves"), at: offset)
      }
    }
    return url
  }
}
