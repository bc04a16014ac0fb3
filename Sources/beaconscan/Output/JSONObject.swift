import Advertising
import Scanning

/// Writes one JSON object as a line of bytes, its keys in the order in which they are given.
///
/// The standard library's encoder neither keeps an order nor a number's digits, and allocates for
/// every value; the lines of a scan are a hot path.
struct JSONObject {
  private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]
  private var needsComma = false

  init() {}

  /// An object whose first key is its type.
  init(type: StaticString) {
    set("type", type.description)
  }

  /// The object as a line.
  func line(into output: inout [UInt8]) {
    output += bytes
    output.append(UInt8(ascii: "}"))
    output.append(UInt8(ascii: "\n"))
  }

  mutating func set(_ key: StaticString, _ value: String) {
    begin(key)
    string(value)
  }

  mutating func set(_ key: StaticString, _ value: String?) {
    if let value { set(key, value) } else { setNull(key) }
  }

  mutating func set(_ key: StaticString, _ value: some BinaryInteger) {
    begin(key)
    bytes += String(value).utf8
  }

  mutating func set(_ key: StaticString, _ value: (some BinaryInteger)?) {
    if let value { set(key, value) } else { setNull(key) }
  }

  mutating func set(_ key: StaticString, _ value: Bool) {
    begin(key)
    bytes += (value ? "true" : "false").utf8
  }

  mutating func set(_ key: StaticString, _ value: Bool?) {
    if let value { set(key, value) } else { setNull(key) }
  }

  /// A number cut to some decimals; `null` where it is not known or not finite.
  mutating func set(_ key: StaticString, _ value: Double?, decimals: Int) {
    guard let value, value.isFinite else { return setNull(key) }
    begin(key)
    bytes += decimal(value, decimals).utf8
  }

  mutating func set(_ key: StaticString, _ value: WallClockTime) {
    begin(key)
    bytes.append(UInt8(ascii: "\""))
    bytes += value.description.utf8
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func setNull(_ key: StaticString) {
    begin(key)
    bytes += "null".utf8
  }

  /// A key whose value is an object.
  mutating func set(_ key: StaticString, _ value: JSONObject) {
    begin(key)
    bytes += value.bytes
    bytes.append(UInt8(ascii: "}"))
  }

  /// A key whose value is a list of objects.
  mutating func set(_ key: StaticString, _ values: [JSONObject]) {
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += value.bytes
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// A key whose value is a list of texts.
  mutating func set(_ key: StaticString, _ values: [String]?) {
    guard let values else { return setNull(key) }
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      string(value)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// A beacon's identity: three keys.
  mutating func set(_ beacon: BeaconIdentity) {
    set("uuid", beacon.uuid.description)
    set("major", beacon.major)
    set("minor", beacon.minor)
  }

  private mutating func begin(_ key: StaticString) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    bytes.append(UInt8(ascii: "\""))
    bytes += key.description.utf8
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func string(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// A number with at most some decimals, without trailing zeros, in the same digits everywhere.
func decimal(_ value: Double, _ decimals: Int) -> String {
  let scale = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
  let scaled = (value * scale).rounded()
  guard abs(scaled) < 9e15 else { return "\(value)" }
  let whole = Int64(scaled)
  let unit = Int64(scale)
  var text = (whole < 0 ? "-" : "") + String(abs(whole) / unit)
  var fraction = String(abs(whole) % unit)
  guard fraction != "0" else { return text }
  fraction = String(repeating: "0", count: decimals - fraction.count) + fraction
  while fraction.last == "0" { fraction.removeLast() }
  text += "." + fraction
  return text
}

/// A number with exactly some decimals, for columns.
func fixed(_ value: Double, _ decimals: Int) -> String {
  var text = decimal(value, decimals)
  guard decimals > 0 else { return text }
  let have = text.firstIndex(of: ".").map { text.distance(from: $0, to: text.endIndex) - 1 }
  if have == nil { text += "." }
  return text + String(repeating: "0", count: decimals - (have ?? 0))
}
