import Foundation

extension UUID {
  /// The UUID whose bytes are all zero.
  static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

// Plain strings and numbers alone, so that an archive needs no class but these.
extension NSCoder {
  func encodeUUID(_ uuid: UUID, _ key: String) {
    encode(NSString(string: uuid.uuidString), forKey: key)
  }

  func decodeUUID(_ key: String) -> UUID? {
    decodeText(key).flatMap { UUID(uuidString: $0) }
  }

  func encodeText(_ text: String, _ key: String) {
    encode(NSString(string: text), forKey: key)
  }

  func decodeText(_ key: String) -> String? {
    decodeObject(of: NSString.self, forKey: key).map { "\($0)" }
  }

  func encodeDate(_ date: Date, _ key: String) {
    encode(date.timeIntervalSinceReferenceDate, forKey: key)
  }

  func decodeDate(_ key: String) -> Date {
    Date(timeIntervalSinceReferenceDate: decodeDouble(forKey: key))
  }

  func encodeCoordinate(_ coordinate: CLLocationCoordinate2D) {
    encode(coordinate.latitude, forKey: "latitude")
    encode(coordinate.longitude, forKey: "longitude")
  }

  func decodeCoordinate() -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(
      latitude: decodeDouble(forKey: "latitude"), longitude: decodeDouble(forKey: "longitude"))
  }

  /// A major or minor that may be absent; `nil` if what is there is neither.
  func decodeOptionalUInt16(_ key: String) -> UInt16?? {
    guard containsValue(forKey: key) else { return .some(nil) }
    return UInt16(exactly: decodeInteger(forKey: key)).map { .some($0) }
  }
}
