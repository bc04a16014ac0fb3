// Coding of values as text, for the types whose text people read and write.

extension LosslessStringConvertible {
  package init(textFrom decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Self(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "'\(text)' is not the text of a \(Self.self)")
    }
    self = value
  }

  package func encodeText(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
