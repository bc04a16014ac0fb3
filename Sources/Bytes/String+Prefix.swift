extension String {
  /// Returns what follows a prefix; `nil` without it.
  ///
  /// `hasPrefix(_:)` does not find a prefix whose last character combines with what follows.
  package func rest(after prefix: String) -> String? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return String(unicodeScalars.dropFirst(prefix.unicodeScalars.count))
  }
}
