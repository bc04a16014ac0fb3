public import Advertising

/// A constraint on beacons: a UUID, and optionally a major and a minor value.
public struct BeaconConstraint: Hashable, Sendable, LosslessStringConvertible, Codable {
  /// The UUID of the beacons.
  public var uuid: ProximityUUID
  /// The major value; `nil` for any.
  public var major: UInt16?
  /// The minor value; `nil` for any.
  public var minor: UInt16?

  /// Creates a constraint.
  public init(uuid: ProximityUUID, major: UInt16? = nil, minor: UInt16? = nil) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
  }

  /// Returns whether the constraint matches a beacon.
  @inlinable
  public func matches(_ beacon: BeaconIdentity) -> Bool {
    beacon.uuid == uuid && (major ?? beacon.major) == beacon.major
      && (minor ?? beacon.minor) == beacon.minor
  }

  /// The only beacon that the constraint matches, or `nil` if it matches several.
  package var identity: BeaconIdentity? {
    guard let major, let minor else { return nil }
    return BeaconIdentity(uuid: uuid, major: major, minor: minor)
  }

  /// Parses `UUID`, `UUID:MAJOR`, `UUID:MAJOR:MINOR`, or `UUID:*:MINOR` for any major.
  public init?(_ description: String) {
    let parts = description.utf8.split(
      separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let uuid = ProximityUUID(parts[0]) else { return nil }
    self.init(uuid: uuid)
    if parts.count > 1, parts.count < 3 || !parts[1].elementsEqual("*".utf8) {
      guard let major = UInt16(digits: Substring(parts[1])) else { return nil }
      self.major = major
    }
    if parts.count > 2 {
      guard let minor = UInt16(digits: Substring(parts[2])) else { return nil }
      self.minor = minor
    }
  }

  /// The text form: `UUID[:MAJOR[:MINOR]]`, or `UUID:*:MINOR`.
  public var description: String {
    var text = "\(uuid)"
    if let major { text += ":\(major)" }
    if let minor { text += major == nil ? ":*:\(minor)" : ":\(minor)" }
    return text
  }

  /// Decodes the text form.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension UInt16 {
  /// Parses digits only; the standard library also accepts a sign.
  init?(digits: Substring) {
    guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
      return nil
    }
    self.init(digits)
  }
}
