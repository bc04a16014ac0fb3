public import Bytes

/// A 48-bit Bluetooth device address, BD_ADDR (Core Specification, Vol 2, Part B, §1.2).
@frozen
public struct BluetoothAddress: Hashable, Sendable, BitwiseCopyable, LosslessStringConvertible,
  Codable
{
  /// The address in the low 48 bits; the first written octet is the most significant.
  public var rawValue: UInt64

  /// Creates an address from its 48 bits; higher bits are dropped.
  @inlinable
  public init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

  /// Reads an address in packet order: six octets, the least significant first.
  @inlinable @inline(__always)
  package init(parsing cursor: inout ByteCursor) throws(ParseError) {
    let low = UInt64(try cursor.readLittleEndian(UInt32.self))
    self.init(rawValue: UInt64(try cursor.readLittleEndian(UInt16.self)) << 32 | low)
  }

  /// Reads the address at an offset; the caller has checked that its octets lie within the bytes.
  @inlinable @inline(__always)
  @unsafe
  package init(littleEndian bytes: RawSpan, unchecked offset: Int) {
    let low = unsafe UInt64(bytes.littleEndian(UInt32.self, unchecked: offset))
    let high = unsafe UInt64(bytes.littleEndian(UInt16.self, unchecked: offset &+ 4))
    self.init(rawValue: high << 32 | low)
  }

  package var littleEndianBytes: [UInt8] {
    (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) }
  }

  /// Parses `AA:BB:CC:DD:EE:FF`, with digits of either case.
  public init?(_ description: String) {
    let octets = description.split(separator: ":", omittingEmptySubsequences: false)
    guard octets.count == 6 else { return nil }
    var value: UInt64 = 0
    for octet in octets {
      guard octet.utf8.count == 2, octet.allSatisfy(\.isHexDigit),
        let byte = UInt8(octet, radix: 16)
      else { return nil }
      value = value << 8 | UInt64(byte)
    }
    self.init(rawValue: value)
  }

  /// The address as `AA:BB:CC:DD:EE:FF`, in upper case.
  public var description: String {
    // 17 bytes of ASCII: two digits and a colon, five times, and two digits.
    unsafe String(unsafeUninitializedCapacity: 17) { text in
      for index in 0..<17 {
        let (octet, digit) = index.quotientAndRemainder(dividingBy: 3)
        let nibble = UInt8(truncatingIfNeeded: rawValue >> (44 - 8 * octet - 4 * digit)) & 0xF
        unsafe text[index] =
          digit == 2 ? UInt8(ascii: ":") : nibble < 10 ? 48 + nibble : 55 + nibble
      }
      return 17
    }
  }

  /// Decodes the text form.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

/// The kind of an advertiser's address: Address_Type (Core Specification, Vol 4, Part E,
/// §7.7.65.13).
@frozen
public struct AddressType: RawRepresentable, Hashable, Sendable, Codable, BitwiseCopyable,
  CustomStringConvertible
{
  /// The value on the wire.
  public var rawValue: UInt8

  /// Creates a type from any value, known or not.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A public device address.
  @inlinable
  public static var `public`: AddressType { AddressType(rawValue: 0x00) }
  /// A random device address: static or private.
  @inlinable
  public static var random: AddressType { AddressType(rawValue: 0x01) }
  /// A public identity address that the controller resolved from a private one.
  @inlinable
  public static var publicIdentity: AddressType { AddressType(rawValue: 0x02) }
  /// A random static identity address that the controller resolved from a private one.
  @inlinable
  public static var randomIdentity: AddressType { AddressType(rawValue: 0x03) }
  /// The advertiser gave no address.
  @inlinable
  public static var anonymous: AddressType { AddressType(rawValue: 0xFF) }

  /// The kind's name, for example `random`.
  public var description: String {
    switch self {
    case .public: "public"
    case .random: "random"
    case .publicIdentity: "public-identity"
    case .randomIdentity: "random-identity"
    case .anonymous: "anonymous"
    default: "other-\(rawValue)"
    }
  }
}
