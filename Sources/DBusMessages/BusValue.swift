package enum BusValue: Hashable, Sendable {
  case byte(UInt8), boolean(Bool), double(Double)
  case int16(Int16), uint16(UInt16), int32(Int32), uint32(UInt32), int64(Int64), uint64(UInt64)
  case string(String), objectPath(String), signature(String)
  /// A file descriptor in a received message. It is never opened, and none can be sent.
  case fileDescriptor
  case bytes([UInt8])
  /// An array of values, which all have the element's signature.
  case array(element: String, [BusValue])
  indirect case dictionary(key: String, value: String, [Entry])
  /// At least one value.
  case structure([BusValue])
  indirect case variant(BusValue)

  package struct Entry: Hashable, Sendable {
    package var key: BusValue
    package var value: BusValue

    package init(_ key: BusValue, _ value: BusValue) {
      self.key = key
      self.value = value
    }
  }

  /// Returns a dictionary of variants, `a{sv}`, sorted by name.
  package static func properties(_ values: [String: BusValue]) -> BusValue {
    .dictionary(
      key: "s", value: "v",
      values.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
  }

  /// The innermost value of nested variants, or the value itself.
  package var unwrapped: BusValue {
    var value = self
    while case .variant(let inner) = value { value = inner }
    return value
  }

  package var asString: String? {
    switch unwrapped {
    case .string(let text), .objectPath(let text), .signature(let text): text
    default: nil
    }
  }

  package var asInt: Int? {
    switch unwrapped {
    case .byte(let number): Int(number)
    case .int16(let number): Int(number)
    case .uint16(let number): Int(number)
    case .int32(let number): Int(number)
    case .uint32(let number): Int(number)
    case .int64(let number): Int(exactly: number)
    case .uint64(let number): Int(exactly: number)
    default: nil
    }
  }

  package var asBool: Bool? {
    if case .boolean(let value) = unwrapped { value } else { nil }
  }

  package var asDouble: Double? {
    if case .double(let value) = unwrapped { value } else { nil }
  }

  package var asBytes: [UInt8]? {
    if case .bytes(let bytes) = unwrapped { bytes } else { nil }
  }

  package var asArray: [BusValue]? {
    switch unwrapped {
    case .array(_, let values), .structure(let values): values
    default: nil
    }
  }

  package var asEntries: [Entry]? {
    if case .dictionary(_, _, let entries) = unwrapped { entries } else { nil }
  }

  /// The unwrapped values of a dictionary with string or path keys; the last one of a repeated key.
  package var asProperties: [String: BusValue]? {
    guard let entries = asEntries else { return nil }
    var values: [String: BusValue] = [:]
    values.reserveCapacity(entries.count)
    for entry in entries {
      guard let key = entry.key.asString else { return nil }
      values[key] = entry.value.unwrapped
    }
    return values
  }

  package var typeSignature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .fileDescriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a\(element)"
    case .dictionary(let key, let value, _): "a{\(key)\(value)}"
    case .structure(let values): "(\(values.map(\.typeSignature).joined()))"
    case .variant: "v"
    }
  }

  /// The approximate memory of the value in bytes, which the limits count.
  var size: Int {
    switch self {
    case .string(let text), .objectPath(let text), .signature(let text):
      Self.plainSize + text.utf8.count
    case .bytes(let bytes): Self.containerSize + bytes.count
    case .array(let element, let values):
      values.reduce(Self.containerSize + element.utf8.count) { $0 + $1.size }
    case .dictionary(_, let type, let entries):
      entries.reduce(Self.containerSize + type.utf8.count) { $0 + $1.key.size + $1.value.size }
    case .structure(let values): values.reduce(Self.containerSize) { $0 + $1.size }
    case .variant(let value): Self.containerSize + value.size
    default: Self.plainSize
    }
  }

  /// The size of a value in an array that has twice the capacity it needs.
  static let plainSize = 64
  /// The size of a value with an allocation of its own.
  static let containerSize = 160
}
