/// The reason that an option cannot be set or the scanner cannot start.
package struct EmbeddingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence without a full stop.
  package let description: String

  init(_ reason: some Any) { description = "\(reason)" }
}
