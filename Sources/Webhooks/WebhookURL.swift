/// An HTTP or HTTPS URL to which events are delivered.
package struct WebhookURL: Sendable, Hashable {
  /// The whole URL, whose path may contain a secret.
  let text: String
  /// The host, and the port if there is one. It contains no secret.
  package let place: String

  /// A code for files that must not contain secrets. The URL cannot be computed from it.
  package var fingerprint: String {
    WebhookSecret.base64(of: WebhookSecret.code(Array(text.utf8), key: Array("webhook".utf8)))
  }

  /// Returns `nil` unless the text is an HTTP or HTTPS URL whose host all programs read alike.
  package init?(_ text: String) {
    let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
    guard let scheme, text.utf8.count <= Self.maximumBytes,
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.refused.contains($0) })
    else { return nil }
    let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
    let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
    // A name and a password may precede the host.
    guard parts.count <= 2, let place = parts.last, Self.isPlace(place) else { return nil }
    self.text = text
    self.place = String(place)
  }

  private static let maximumBytes = 4096
  private static let refused: [UInt8] = Array("\"#<>\\^`{|}".utf8)

  private static func isPlace(_ text: Substring) -> Bool {
    var rest = text
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return false }
      let address = rest[..<end].dropFirst()
      guard address.contains(":"), address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
      else { return false }
      rest = rest[rest.index(after: end)...]
    } else {
      let name = rest.prefix { $0 != ":" }
      let isName = name.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "-._".utf8.contains($0)
      }
      guard !name.isEmpty, isName else { return false }
      rest = rest.dropFirst(name.count)
    }
    guard !rest.isEmpty else { return true }
    let digits = rest.dropFirst()
    return rest.first == ":" && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
      && UInt16(digits) ?? 0 > 0
  }
}
