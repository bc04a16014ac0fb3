package import Advertising
package import Scanning

package enum FieldValue {
  case absent
  case null
  case boolean(Bool)
  case integer(Int)
  case number(Double, decimals: Int)
  case text(String)
  /// ASCII text without characters to escape or quote, such as a time or an address.
  case plain(String)
  /// JSON that a closure appends, and the text for CSV and tables.
  case json((inout [UInt8]) -> Void, text: String? = nil)

  package static func list<Element>(
    _ elements: [Element], text: String? = nil,
    _ append: @escaping (Element, inout [UInt8]) -> Void
  ) -> FieldValue {
    let list: (inout [UInt8]) -> Void = { bytes in
      bytes.append(UInt8(ascii: "["))
      for index in elements.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(elements[index], &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    }
    return .json(list, text: text)
  }

  static func number(_ value: Double?, _ decimals: Int) -> FieldValue {
    guard let value, value.isFinite else { return .null }
    return .number(value, decimals: decimals)
  }

  /// The text for CSV and tables, or `nil` for none.
  package var text: String? {
    switch self {
    case .absent, .null: nil
    case .json(_, let text): text
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .number(let value, let decimals): decimal(value, decimals)
    case .text(let value), .plain(let value): value
    }
  }

  var mayNeedQuotes: Bool {
    switch self {
    case .text, .json: true
    default: false
    }
  }

  func append(to bytes: inout [UInt8]) {
    switch self {
    case .absent, .null: bytes += "null".utf8
    case .boolean, .integer, .number: bytes += (text ?? "").utf8
    case .text(let value): appendQuoted(value, to: &bytes)
    case .plain(let value):
      bytes.append(UInt8(ascii: "\""))
      bytes += value.utf8
      bytes.append(UInt8(ascii: "\""))
    case .json(let append, _): append(&bytes)
    }
  }
}

/// Appends a JSON string. It escapes all control characters, up to U+009F, for terminals.
func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
  func escape(_ byte: UInt8) {
    let digits = String(byte, radix: 16)
    bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
  }
  bytes.append(UInt8(ascii: "\""))
  var isAfterLead = false
  for byte in text.utf8 {
    switch byte {
    // UTF-8 encodes these as 0xC2 and the code point.
    case 0x80..<0xA0 where isAfterLead:
      bytes.removeLast()
      escape(byte)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0..<0x20, 0x7F: escape(byte)
    default: bytes.append(byte)
    }
    isAfterLead = byte == 0xC2
  }
  bytes.append(UInt8(ascii: "\""))
}

package protocol FieldValueConvertible: SendableMetatype {
  var fieldValue: FieldValue { get }
}

extension FieldValue: FieldValueConvertible {
  package var fieldValue: FieldValue { self }
}

extension Bool: FieldValueConvertible {
  package var fieldValue: FieldValue { .boolean(self) }
}

extension FieldValueConvertible where Self: FixedWidthInteger {
  package var fieldValue: FieldValue { .integer(Int(clamping: self)) }
}

extension Int: FieldValueConvertible {}
extension Int8: FieldValueConvertible {}
extension Int32: FieldValueConvertible {}
extension UInt8: FieldValueConvertible {}
extension UInt16: FieldValueConvertible {}
extension UInt32: FieldValueConvertible {}

extension String: FieldValueConvertible {
  package var fieldValue: FieldValue { .text(self) }
}

/// For types whose descriptions are ASCII text without quotes.
extension FieldValueConvertible where Self: CustomStringConvertible {
  package var fieldValue: FieldValue { .plain(description) }
}

extension ProximityUUID: FieldValueConvertible {}
extension BluetoothAddress: FieldValueConvertible {}
extension AddressType: FieldValueConvertible {}
extension Moment: FieldValueConvertible where Clock == WallClockLine {}

extension Array: FieldValueConvertible where Element == String {
  package var fieldValue: FieldValue {
    .list(self, text: isEmpty ? nil : joined(separator: " ")) { appendQuoted($0, to: &$1) }
  }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
  package var fieldValue: FieldValue { self?.fieldValue ?? .null }
}
