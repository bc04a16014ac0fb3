import Glibc

/// The names of the machine's users.
package enum UserName {
  /// Returns the name of a user, or the number of one without a name.
  package static func of(_ user: UInt32) -> String {
    // The name is copied at once.
    unsafe getpwuid(user).map { unsafe String(cString: $0.pointee.pw_name) } ?? "\(user)"
  }

  /// Returns the number of a user; `nil` if the text is neither a name nor a number.
  package static func number(of text: String) -> UInt32? {
    // The number is copied at once.
    UInt32(text) ?? (unsafe getpwnam(text).map { unsafe $0.pointee.pw_uid })
  }
}
