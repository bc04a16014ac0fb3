import Bytes

/// Every read that a cursor has, by its name and its width.
enum CursorRead: CaseIterable {
  case unsigned8, signed8
  case little16, little32, little64, littleSigned16
  case big16, big32, big64, bigSigned64

  /// How many bytes it takes.
  var width: Int {
    switch self {
    case .unsigned8, .signed8: 1
    case .little16, .littleSigned16, .big16: 2
    case .little32, .big32: 4
    case .little64, .big64, .bigSigned64: 8
    }
  }

  private var isBigEndian: Bool {
    switch self {
    case .big16, .big32, .big64, .bigSigned64: true
    default: false
    }
  }

  private var isSigned: Bool {
    switch self {
    case .signed8, .littleSigned16, .bigSigned64: true
    default: false
    }
  }

  /// What it must give for bytes of its width, computed octet by octet.
  func expected(_ bytes: [UInt8]) -> Int128 {
    let ordered = isBigEndian ? bytes : bytes.reversed()
    let value = ordered.reduce(Int128(0)) { $0 * 256 + Int128($1) }
    let bits = bytes.count * 8
    return isSigned && value >> (bits - 1) == 1 ? value - (1 << bits) : value
  }

  /// Does the read.
  @_lifetime(cursor: copy cursor)
  func callAsFunction(_ cursor: inout ByteCursor) throws(ParseError) -> Int128 {
    switch self {
    case .unsigned8: Int128(try cursor.readUInt8())
    case .signed8: Int128(try cursor.readInt8())
    case .little16: Int128(try cursor.readLittleEndian(UInt16.self))
    case .little32: Int128(try cursor.readLittleEndian(UInt32.self))
    case .little64: Int128(try cursor.readLittleEndian(UInt64.self))
    case .littleSigned16: Int128(try cursor.readLittleEndian(Int16.self))
    case .big16: Int128(try cursor.readBigEndian(UInt16.self))
    case .big32: Int128(try cursor.readBigEndian(UInt32.self))
    case .big64: Int128(try cursor.readBigEndian(UInt64.self))
    case .bigSigned64: Int128(try cursor.readBigEndian(Int64.self))
    }
  }

  /// The same, with the error as a value.
  @_lifetime(cursor: copy cursor)
  func result(_ cursor: inout ByteCursor) -> Result<Int128, ParseError> {
    do throws(ParseError) {
      return .success(try self(&cursor))
    } catch {
      return .failure(error)
    }
  }
}
