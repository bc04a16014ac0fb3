import Bytes

/// An AltBeacon frame: manufacturer-specific data of any company with the code 0xBEAC (AltBeacon
/// Protocol Specification 1.0). It is shown, but not ranged.
package struct AltBeacon: Hashable, Sendable {
  /// The first 20 bytes of the identifier, read as an iBeacon's identity by convention.
  package var identity: BeaconIdentity
  /// The reference RSSI in dBm at 1 m.
  package var measuredPower: Int8
  /// The manufacturer's own byte; `nil` if the frame is one byte short, as from some senders.
  package var manufacturerReserved: UInt8?

  /// Reads manufacturer-specific data from the company identifier on; `nil` for another message.
  package static func read(manufacturerData data: RawSpan) -> Self? {
    var cursor = ByteCursor(data)
    do throws(ParseError) {
      try cursor.skip(2)
      guard try cursor.readBigEndian(UInt16.self) == 0xBEAC else { return nil }
      let uuid = ProximityUUID(
        high: try cursor.readBigEndian(UInt64.self), low: try cursor.readBigEndian(UInt64.self))
      let identity = BeaconIdentity(
        uuid: uuid, major: try cursor.readBigEndian(UInt16.self),
        minor: try cursor.readBigEndian(UInt16.self))
      return AltBeacon(
        identity: identity, measuredPower: try cursor.readInt8(),
        manufacturerReserved: try? cursor.readUInt8())
    } catch {
      return nil
    }
  }
}
