/// The reason why a request to a service fails.
public enum ServiceError<Failure: Error & Hashable>: Error, Hashable, CustomStringConvertible {
  /// The source cannot be used, as the sentence explains.
  case unavailable(String)
  /// The application is not authorized.
  case denied
  /// The region cannot be monitored.
  case region(String, Failure)
  /// The region's identifier is longer than the maximum of 4,096 bytes.
  case identifierTooLong(bytes: Int)

  /// One sentence for people.
  public var description: String {
    switch self {
    case .unavailable(let sentence): sentence
    case .denied: "this application is not authorized to use location services"
    case .region(let identifier, let error): "region '\(identifier)': \(error)"
    case .identifierTooLong(let bytes):
      "the region's identifier has \(bytes) bytes; shorten it to \(Self.maximumIdentifierBytes) at most"
    }
  }

  /// Within the store's bound: an event has the identifier twice, and escapes a character with six.
  private static var maximumIdentifierBytes: Int { 4096 }

  /// Throws if the identifier of a region is too long.
  package static func check(_ identifier: String) throws(Self) {
    let bytes = identifier.utf8.count
    if bytes > maximumIdentifierBytes { throw .identifierTooLong(bytes: bytes) }
  }
}

extension ServiceError: Codable where Failure: Codable {}
