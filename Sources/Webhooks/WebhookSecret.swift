import COpenSSL

/// A secret for signatures as in Standard Webhooks (https://www.standardwebhooks.com).
package struct WebhookSecret: Sendable, Equatable {
  private let key: [UInt8]

  /// Reads a secret: `whsec_` and 24 to 64 bytes in Base64. Returns `nil` for other text.
  package init?(_ text: [UInt8]) {
    guard text.starts(with: Self.prefix),
      let key = Self.bytes(ofBase64: text.dropFirst(Self.prefix.count)),
      (24...64).contains(key.count)
    else { return nil }
    self.key = key
  }

  private static let prefix = Array("whsec_".utf8)

  /// Returns the value of the `webhook-signature` header.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    "v1," + Self.base64(of: Self.code(Array("\(id).\(timestamp).".utf8) + body, key: key))
  }

  /// Returns the HMAC-SHA-256 of a message (RFC 2104, RFC 6234).
  static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    // The arrays outlive the call, which writes 32 bytes.
    let result = unsafe HMAC(
      EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &code, &count)
    // HMAC fails only without memory. Receivers reject the empty signature.
    return unsafe result == nil ? [] : code
  }

  static func base64(of bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    // The arrays outlive the call, which writes four bytes for every three, and a zero.
    let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }

  private static func bytes(ofBase64 text: ArraySlice<UInt8>) -> [UInt8]? {
    let digits = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.count - digits.count
    let isValid = digits.allSatisfy {
      (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "+/".utf8.contains($0)
    }
    guard isValid, text.count % 4 == 0, text.count <= 1024, padding <= 2,
      text.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") })
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    // The arrays outlive the call, which writes three bytes for every four.
    let count = unsafe EVP_DecodeBlock(&bytes, Array(text), Int32(text.count))
    return count == Int32(bytes.count) ? Array(bytes.dropLast(padding)) : nil
  }
}
