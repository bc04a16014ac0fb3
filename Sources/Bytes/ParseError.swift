/// Why bytes could not be read, and where.
@usableFromInline
package struct ParseError: Error, Hashable, Sendable, BitwiseCopyable {
  /// What was wrong with the bytes.
  @usableFromInline
  package enum Reason: Hashable, Sendable, BitwiseCopyable {
    /// A field needs `needed` bytes more than stand before it, and only `available` follow.
    case truncated(needed: Int, available: Int)
    /// A field holds a value that its format does not allow.
    case invalid(StaticReason)
  }

  @usableFromInline
  package var reason: Reason
  /// How many bytes from the start of the cursor's bytes (plus its base) the field stands.
  @usableFromInline
  package var offset: Int

  /// Makes an error at a byte offset.
  @inlinable
  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// The name of a rule that bytes broke: a constant sentence part, so that an error costs no allocation.
@usableFromInline
package struct StaticReason: Hashable, Sendable, BitwiseCopyable, ExpressibleByStringLiteral {
  let text: StaticString

  /// Makes a reason from a literal.
  @inlinable
  package init(stringLiteral value: StaticString) { self.init(value) }

  @usableFromInline
  init(_ text: StaticString) { self.text = text }

  /// Two reasons are equal when their words are.
  @usableFromInline
  package static func == (left: Self, right: Self) -> Bool {
    left.text.description == right.text.description
  }

  /// Hashes the words.
  @usableFromInline
  package func hash(into hasher: inout Hasher) { hasher.combine(text.description) }
}

extension ParseError: CustomStringConvertible {
  /// For example `byte 31: need 5 more, have 1`.
  @usableFromInline
  package var description: String { "byte \(offset): \(reason)" }
}

extension ParseError.Reason: CustomStringConvertible {
  /// For example `need 5 more, have 1`.
  @usableFromInline
  package var description: String {
    switch self {
    case .truncated(let needed, let available): "need \(needed) more, have \(available)"
    case .invalid(let rule): rule.text.description
    }
  }
}
