import Foundation

extension UUID {
  static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

// An archive has only plain strings and numbers. Every key begins with the name of its class.
extension NSCoder {
  func encodeUUID(_ uuid: UUID, _ key: String) {
    encode(NSString(string: uuid.uuidString), forKey: key)
  }

  func decodeUUID(_ key: String) -> UUID? { decodeText(key).flatMap { UUID(uuidString: $0) } }

  func encodeText(_ text: String, _ key: String) { encode(NSString(string: text), forKey: key) }

  func decodeText(_ key: String) -> String? {
    // Decoding an absent value ends the process.
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSString.self, forKey: key).map { "\($0)" }
  }

  func encodeDate(_ date: Date, _ key: String) {
    encode(date.timeIntervalSinceReferenceDate, forKey: key)
  }

  func decodeDate(_ key: String) -> Date {
    Date(timeIntervalSinceReferenceDate: decodeNumber(key))
  }

  func encodeCoordinate(_ coordinate: CLLocationCoordinate2D, _ prefix: String) {
    encode(coordinate.latitude, forKey: "\(prefix).latitude")
    encode(coordinate.longitude, forKey: "\(prefix).longitude")
  }

  func decodeCoordinate(_ prefix: String) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(
      latitude: decodeNumber("\(prefix).latitude"),
      longitude: decodeNumber("\(prefix).longitude"))
  }

  /// Returns an archived number, or 0 without one.
  func decodeNumber(_ key: String) -> Double { decodeOptionalDouble(key) ?? 0 }

  /// Returns an archived integer, or 0 without one.
  func decodeWhole(_ key: String) -> Int {
    containsValue(forKey: key) ? decodeInteger(forKey: key) : 0
  }

  func decodeOptionalDouble(_ key: String) -> Double? {
    containsValue(forKey: key) ? decodeDouble(forKey: key) : nil
  }

  /// Returns the range between two archived numbers; `nil` if they are absent or out of order.
  func decodeRange(_ low: String, _ high: String) -> ClosedRange<Double>? {
    guard let low = decodeOptionalDouble(low), let high = decodeOptionalDouble(high), low <= high
    else { return nil }
    return low...high
  }

  /// Returns a major or minor that may be absent; `nil` if the archived number is out of range.
  func decodeOptionalUInt16(_ key: String) -> UInt16?? {
    guard containsValue(forKey: key) else { return .some(nil) }
    return UInt16(exactly: decodeInteger(forKey: key)).map { .some($0) }
  }
}
