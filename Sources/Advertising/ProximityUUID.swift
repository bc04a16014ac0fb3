/// A beacon's 128-bit proximity UUID, in two words for fast comparison and hashing. It is not
/// Foundation's `UUID`, because every layer below the manager works without Foundation.
@frozen
public struct ProximityUUID: Hashable, Sendable, BitwiseCopyable, Comparable,
  LosslessStringConvertible, Codable
{
  /// Octets 0 to 7; the first is the most significant.
  public var high: UInt64
  /// Octets 8 to 15.
  public var low: UInt64

  /// Creates a UUID from its two halves.
  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Orders UUIDs as their text forms.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Parses 32 hexadecimal digits of either case: in the form of RFC 9562 (8-4-4-4-12), in braces,
  /// or with dashes and spaces anywhere, as tools and data sheets write them.
  public init?(_ description: String) {
    self.init(description.utf8[...])
  }

  /// Parses the text form.
  package init?(_ description: Substring.UTF8View) {
    var text = description
    if text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") {
      text = text.dropFirst().dropLast()
    }
    var words: (high: UInt64, low: UInt64) = (0, 0)
    var digits = 0
    for character in text where character != UInt8(ascii: "-") && character != UInt8(ascii: " ") {
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x41...0x46, 0x61...0x66: digit = (character & 0x0F) + 9
      default: return nil
      }
      words.high = words.high << 4 | words.low >> 60
      words.low = words.low << 4 | UInt64(digit)
      digits += 1
    }
    guard digits == 32 else { return nil }
    self.init(high: words.high, low: words.low)
  }

  /// The text form of RFC 9562 in upper case, as Core Location writes it.
  public var description: String {
    // 36 bytes of ASCII, each written once below.
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var index = 0
      for position in 0..<32 {
        if position == 8 || position == 12 || position == 16 || position == 20 {
          unsafe text[index] = UInt8(ascii: "-")
          index += 1
        }
        let word = position < 16 ? high : low
        let nibble = UInt8(truncatingIfNeeded: word >> (60 - 4 * (position & 15))) & 0xF
        unsafe text[index] = nibble < 10 ? 48 + nibble : 55 + nibble
        index += 1
      }
      return index
    }
  }

  /// Decodes the text form.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

/// The identity of an iBeacon: proximity UUID, major and minor.
@frozen
public struct BeaconIdentity: Hashable, Sendable, Codable, BitwiseCopyable, Comparable,
  CustomStringConvertible
{
  /// The UUID, which identifies the beacon's owner.
  public var uuid: ProximityUUID
  /// The group that the owner assigned.
  public var major: UInt16
  /// The number in the group.
  public var minor: UInt16

  /// Creates an identity.
  @inlinable
  public init(uuid: ProximityUUID, major: UInt16, minor: UInt16) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
  }

  /// Orders by UUID, then major, then minor.
  @inlinable
  public static func < (left: Self, right: Self) -> Bool {
    (left.uuid, left.major, left.minor) < (right.uuid, right.major, right.minor)
  }

  /// The text form, for example `E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:2`.
  public var description: String { "\(uuid):\(major):\(minor)" }
}
