@usableFromInline
package struct ParseError: Error, Hashable, Sendable, BitwiseCopyable {
  @usableFromInline
  package enum Reason: Hashable, Sendable, BitwiseCopyable {
    /// A field needs `needed` bytes, and only `available` are left.
    case truncated(needed: Int, available: Int)
    case invalid(StaticReason)
  }

  @usableFromInline
  package var reason: Reason
  /// The offset of the field in the cursor's bytes, plus the cursor's base.
  @usableFromInline
  package var offset: Int

  @inlinable
  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// A constant phrase that names the rule that bytes broke. Making one allocates nothing.
@usableFromInline
package struct StaticReason: Hashable, Sendable, BitwiseCopyable, ExpressibleByStringLiteral {
  let text: StaticString

  @inlinable
  package init(stringLiteral value: StaticString) { self.init(value) }

  @usableFromInline
  init(_ text: StaticString) { self.text = text }

  @usableFromInline
  package static func == (left: Self, right: Self) -> Bool {
    left.text.description == right.text.description
  }

  @usableFromInline
  package func hash(into hasher: inout Hasher) { hasher.combine(text.description) }
}

extension ParseError: CustomStringConvertible {
  @usableFromInline
  package var description: String { "byte \(offset): \(reason)" }
}

extension ParseError.Reason: CustomStringConvertible {
  @usableFromInline
  package var description: String {
    switch self {
    case .truncated(let needed, let available): "need \(needed) more, have \(available)"
    case .invalid(let rule): rule.text.description
    }
  }
}
