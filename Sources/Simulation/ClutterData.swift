import Advertising

/// The bytes of adverts and packets that are not beacons, or only look like one.
enum ClutterData {
  /// Returns an iBeacon that a decoder must not find. No other frame has this UUID.
  static func decoy(_ number: Int) -> IBeacon {
    let uuid = ProximityUUID(high: 0xDEC0_DEC0_DEC0_4DEC, low: 0x80DE_C0DE_C0DE_C0DE)
    return frame(uuid, major: 666, number)
  }

  /// Returns an iBeacon with an implausible measured power: 0, +4 or −127 dBm.
  static func wrongPower(_ number: Int) -> IBeacon {
    let uuid = ProximityUUID(high: 0xBAD0_90E2_BAD0_490E, low: 0x80BA_D090_E2BA_D090)
    return frame(uuid, major: UInt16(number % 3), number, power: [0, 4, -127][number % 3])
  }

  /// Returns the iBeacon in truncated events, which a decoder finds if its whole report is present.
  static func beforeTheLie(_ number: Int) -> IBeacon {
    let uuid = ProximityUUID(high: 0x11E5_11E5_11E5_411E, low: 0x8511_E511_E511_E511)
    return frame(uuid, major: 1, number)
  }

  private static func frame(
    _ uuid: ProximityUUID, major: UInt16, _ number: Int, power: Int8 = -59
  ) -> IBeacon {
    let minor = UInt16(truncatingIfNeeded: number)
    let identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
    return IBeacon(identity: identity, measuredPower: power)
  }

  static func data(
    _ kind: Scenario.Clutter.Kind, number: Int, variant: Int, _ random: inout RandomSource
  ) -> [UInt8] {
    let flags: [UInt8] = [0x02, 0x01, 0x06]
    let frame = decoy(number).manufacturerData
    switch kind {
    case .appleNearby:
      // Apple, Nearby Info, 5 bytes of which three change.
      return [0x02, 0x01, 0x1A, 0x0A, 0xFF, 0x4C, 0x00, 0x10, 0x05, 0x01, 0x18] + octets(3, &random)
    case .eddystoneUID:
      let power: UInt8 = 0xE7  // −25 dBm at 0 m
      return flags + [0x03, 0x03, 0xAA, 0xFE, 0x15, 0x16, 0xAA, 0xFE, 0x00, power]
        + [0xED, 0xD1, 0xEB, 0xEA, 0xC0, 0x4E, 0x5D, 0xEF, 0xA0, 0x17]
        + [0x00, 0x00, 0x00, 0x00, UInt8(number >> 8), UInt8(number & 0xFF)]
    case .altBeacon:
      return [0x02, 0x01, 0x1A, 0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC] + frame.dropFirst(4) + [0x00]
    case .name:
      let name = Array("Sensor \(number)".utf8)
      return flags + [UInt8(name.count + 1), 0x09] + name
    case .malformedAD: return flags + [0x1E, 0xFF] + frame
    case .shortIBeacon:
      // Alternates: without the power, and with a matching length byte.
      return variant % 2 == 0
        ? flags + [0x19, 0xFF] + frame.dropLast()
        : flags + [0x18, 0xFF, 0x4C, 0x00, 0x02, 0x14] + frame[4..<24]
    case .wrongLengthByte: return flags + [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x16] + frame.dropFirst(4)
    case .zeroLength: return flags + [0x00, 0x1A, 0xFF] + frame
    default: return []
    }
  }

  static func vendorEvent(_ frame: IBeacon) -> [UInt8] {
    let parameters: [UInt8] = [0x80, 0x01, 0x00] + frame.advertisingData
    return [0x04, 0xFF, UInt8(parameters.count)] + parameters
  }

  /// Returns an event that, by `variant`, is cut short, promises a second report, has data past its
  /// end or, for an extended controller, is truncated by its Data_Status.
  static func truncatedEvent(
    of report: AirReport, variant: Int, isExtended: Bool
  ) -> ClutterSender.Output {
    let bytes = report.bytes(isExtended: isExtended)
    let whole = AirReport.event(bytes, count: 1, isExtended: isExtended)
    switch variant % (isExtended ? 4 : 3) {
    case 0: return .packet(Array(whole.dropLast(11)), [])
    case 1:
      let event = AirReport.event(bytes, count: 2, isExtended: isExtended)
      return .packet(event, [report])
    case 2:
      var event = whole
      let dataLength = 5 + (isExtended ? 23 : 8)
      event[dataLength] = 0x60
      return .packet(event, [])
    default:
      var report = report
      report.pdu = .extended
      let part = report.extendedBytes(report.data[...], .truncated)
      return .packet(AirReport.event(part, count: 1, isExtended: true), [])
    }
  }

  private static func octets(_ count: Int, _ random: inout RandomSource) -> [UInt8] {
    var bits = random.next()
    return (0..<count).map { _ in
      bits >>= 8
      return UInt8(truncatingIfNeeded: bits)
    }
  }
}
