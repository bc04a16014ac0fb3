import COpenSSL
import FoundationEssentials
import Glibc

@safe struct OpenSSLLibrary: @unchecked Sendable {
  // The table never changes.
  fileprivate let table: copenssl

  /// libcrypto, or the reason that it cannot be used.
  static let shared = Result<OpenSSLLibrary, WebhookError> { () throws(WebhookError) in
    var table = copenssl()
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe copenssl_load(&table) != 0 else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "it has no HMAC"
      throw WebhookError(
        description:
          "signatures of webhooks need libcrypto, which cannot be loaded (\(reason)); install it: "
          + "apt-get install libssl3")
    }
    return OpenSSLLibrary(table: table)
  }
}

package struct WebhookSecret: Sendable, Equatable {
  private let key: [UInt8]

  /// Reads a secret: `whsec_` and 24 to 64 bytes in Base64. Returns `nil` for other text.
  package init?(_ text: [UInt8]) {
    guard text.starts(with: Self.prefix),
      let key = Data(base64Encoded: Data(text.dropFirst(Self.prefix.count))),
      (24...64).contains(key.count)
    else { return nil }
    self.key = Array(key)
  }

  private static let prefix = Array("whsec_".utf8)

  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    "v1," + Self.base64(of: Self.code(Array("\(id).\(timestamp).".utf8) + body, key: key))
  }

  /// Returns the HMAC-SHA-256 of a message (RFC 2104, RFC 6234).
  static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    // The arrays outlive the call, which writes 32 bytes.
    guard let openSSL = try? OpenSSLLibrary.shared.get(),
      unsafe openSSL.table.hmac(
        openSSL.table.sha256(), key, Int32(clamping: key.count), message, message.count, &code,
        &count) != nil
    else {
      // It fails only without memory: a sender has the library. Receivers reject this signature.
      return []
    }
    return code
  }

  static func base64(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
