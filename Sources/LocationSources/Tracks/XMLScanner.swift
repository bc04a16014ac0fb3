/// A scanner of XML elements, for the part of XML that GPX uses.
///
/// GPX's own names and values are ASCII, so all extensions of ASCII are read alike, as is UTF-16;
/// other characters become `?`. Predefined entities and character references are expanded, and
/// declarations in a document type are refused. Memory is at most 64 KiB for a tag, 128 bytes of
/// text per element, and 64 open elements.
struct XMLScanner {
  enum Event {
    case start(name: ArraySlice<UInt8>, attributes: [(name: ArraySlice<UInt8>, value: [UInt8])])
    /// The end of an element, with the text directly before it.
    case end(name: ArraySlice<UInt8>, text: [UInt8])
  }

  struct Fault: Error {
    let rule: String
  }

  private enum State {
    case text, tag, comment, section, instruction
  }

  private static let longestTag = 64 * 1024
  private static let longestText = 128
  private static let mostElements = 64

  private var state = State.text
  private var tag: [UInt8] = []
  private var quote: UInt8?
  private var text: [UInt8] = []
  private var open: [[UInt8]] = []
  private var encoding: Encoding?
  private var head: [UInt8] = []
  /// Whether the root element has ended. Everything after it is ignored.
  private(set) var isAtEnd = false

  private enum Encoding {
    case bytes, littleEndian, bigEndian

    init(_ head: some Collection<UInt8>) {
      self =
        switch Array(head.prefix(2)) {
        case [0xFF, 0xFE], [0x3C, 0]: .littleEndian
        case [0xFE, 0xFF], [0, 0x3C]: .bigEndian
        default: .bytes
        }
    }
  }

  static func text(_ bytes: [UInt8]) -> [UInt8] {
    let encoding = Encoding(bytes)
    if encoding == .bytes {
      return Array(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...])
    }
    var units = stride(from: 0, to: bytes.count - 1, by: 2).map {
      ascii(bytes[$0], bytes[$0 + 1], encoding)
    }
    if let first = bytes.first, first >= 0xFE, !units.isEmpty { units.removeFirst() }
    return units
  }

  private static func ascii(_ first: UInt8, _ second: UInt8, _ encoding: Encoding) -> UInt8 {
    let (high, low) = encoding == .bigEndian ? (first, second) : (second, first)
    return high == 0 && low < 0x80 ? low : UInt8(ascii: "?")
  }

  static func localName(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
  }

  mutating func take(_ byte: UInt8, into events: inout [Event]) throws(Fault) {
    guard !isAtEnd else { return }
    if encoding == .bytes { return try take(character: byte, into: &events) }
    head.append(byte)
    guard head.count == 2 else { return }
    let pair = head
    head = []
    let isByteOrderMark = encoding == nil && !pair.contains(0x3C)
    let encoding = encoding ?? Encoding(pair)
    self.encoding = encoding
    if encoding == .bytes {
      for byte in pair { try take(character: byte, into: &events) }
    } else if !isByteOrderMark {
      try take(character: Self.ascii(pair[0], pair[1], encoding), into: &events)
    }
  }

  private mutating func take(character byte: UInt8, into events: inout [Event]) throws(Fault) {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") {
        state = .tag
        tag = []
      } else {
        keep(text: byte)
      }
    case .tag:
      if tag.count >= 3, tag.starts(with: "!--".utf8) {
        state = .comment
      } else if tag.count >= 8, tag.starts(with: "![CDATA[".utf8) {
        state = .section
        tag = []
      } else if tag.first == UInt8(ascii: "?") {
        state = .instruction
      } else if tag.first == UInt8(ascii: "!"), byte == UInt8(ascii: "["), tag.count > 8 {
        throw Fault(rule: "declarations in a document type, which GPX does not have, are not read")
      }
      if state != .tag { return try take(character: byte, into: &events) }
      if byte == UInt8(ascii: ">"), quote == nil {
        state = .text
        if tag.starts(with: "!DOCTYPE".utf8) { return }
        if tag.starts(with: "!".utf8) { throw Fault(rule: "a tag begins with '!'") }
        return try finish(into: &events)
      }
      if byte == quote {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'"),
        !tag.starts(with: "!".utf8)
      {
        quote = byte
      } else if byte == UInt8(ascii: "<") {
        throw Fault(rule: "'<' stands inside a tag")
      }
      tag.append(byte)
      guard tag.count <= Self.longestTag else { throw Fault(rule: "a tag is longer than 64 KiB") }
    case .comment:
      if byte == UInt8(ascii: ">"), tag.suffix(2).elementsEqual("--".utf8), tag.count >= 5 {
        state = .text
      }
      keep(byte, 5)
    case .instruction:
      if byte == UInt8(ascii: ">"), tag.last == UInt8(ascii: "?"), tag.count >= 2 { state = .text }
      keep(byte, 2)
    case .section:
      if byte == UInt8(ascii: ">"), tag.suffix(2).elementsEqual("]]".utf8) { state = .text }
      if tag.count == 2, state == .section, let first = tag.first { keep(text: first) }
      tag.append(byte)
      if tag.count > 2 { tag.removeFirst() }
    }
  }

  /// Keeps a byte of text, except for leading white space and text that is too long.
  private mutating func keep(text byte: UInt8) {
    if text.count < Self.longestText, !text.isEmpty || !Self.isSpace(byte) { text.append(byte) }
  }

  /// Keeps the last bytes of a skipped part, to recognize its end.
  private mutating func keep(_ byte: UInt8, _ count: Int) {
    tag.append(byte)
    if tag.count > count { tag.removeFirst(tag.count - count) }
  }

  private mutating func finish(into events: inout [Event]) throws(Fault) {
    defer { text = [] }
    if tag.first == UInt8(ascii: "/") {
      let name = tag.dropFirst().prefix { !Self.isSpace($0) }
      guard let opened = open.popLast(), opened.elementsEqual(name),
        tag.dropFirst(1 + name.count).allSatisfy(Self.isSpace)
      else { throw Fault(rule: "an end tag does not match the element that is open") }
      events.append(
        .end(name: Self.localName(name), text: Self.trimmed(Self.expanded(text[...]))))
      isAtEnd = open.isEmpty
      return
    }
    let isEmpty = tag.last == UInt8(ascii: "/")
    let body = isEmpty ? tag.dropLast() : tag[...]
    let name = body.prefix { !Self.isSpace($0) }
    guard let first = name.first, Self.isNameStart(first) else {
      throw Fault(rule: "an element has no name")
    }
    let attributes = try Self.attributes(body[name.endIndex...])
    guard open.count < Self.mostElements else {
      throw Fault(rule: "more than 64 elements are open")
    }
    events.append(.start(name: Self.localName(name), attributes: attributes))
    if isEmpty {
      events.append(.end(name: Self.localName(name), text: []))
      isAtEnd = open.isEmpty
    } else {
      open.append(Array(name))
    }
  }

  private static func attributes(
    _ text: ArraySlice<UInt8>
  ) throws(Fault) -> [(name: ArraySlice<UInt8>, value: [UInt8])] {
    var found: [(name: ArraySlice<UInt8>, value: [UInt8])] = []
    var rest = text.drop(while: isSpace)
    while let first = rest.first {
      let name = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: "=") }
      rest = rest[name.endIndex...].drop(while: isSpace)
      guard isNameStart(first), rest.first == UInt8(ascii: "=") else {
        throw Fault(rule: "an attribute has no value")
      }
      rest = rest.dropFirst().drop(while: isSpace)
      guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
        let end = rest.dropFirst().firstIndex(of: quote)
      else { throw Fault(rule: "the value of an attribute is not in quotes") }
      found.append((localName(name), trimmed(expanded(rest[(rest.startIndex + 1)..<end]))))
      guard found.count <= 64 else { throw Fault(rule: "an element has more than 64 attributes") }
      rest = rest[(end + 1)...].drop(while: isSpace)
    }
    return found
  }

  private static let names: [String: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
  ]
  /// The length of the longest reference, `&#x10FFFF;`, after `&`, with three leading zeros.
  private static let longestReference = 12

  /// Expands references; those to characters other than ASCII become `?`.
  private static func expanded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
    var result: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "&"),
        let end = rest.prefix(longestReference).firstIndex(of: UInt8(ascii: ";"))
      else {
        result.append(byte)
        continue
      }
      let name = String(decoding: rest[..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      let number =
        name.hasPrefix("#x")
        ? UInt8(name.dropFirst(2), radix: 16)
        : name.hasPrefix("#") ? UInt8(name.dropFirst()) : nil
      result.append(
        names[name].map { UInt8(ascii: $0) } ?? number.flatMap { $0 < 0x80 ? $0 : nil }
          ?? UInt8(ascii: "?"))
    }
    return result
  }

  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    Array(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ":") || byte >= 0x80 || byte == UInt8(ascii: "?")
  }
}
