// Text as a terminal shows it.

extension String {
  /// The number of a terminal's columns that the text occupies.
  package var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.columns }
  }

  /// The text, or its beginning and `…` where it is wider than a number of columns.
  package func cut(to width: Int) -> String {
    guard columns > width else { return self }
    var (text, left) = ("", width - 1)
    for character in self {
      left -= character.columns
      guard left >= 0 else { break }
      text.append(character)
    }
    return width > 0 ? text + "…" : ""
  }

  /// The text without what a terminal acts on: control characters, and those that change the direction or the
  /// line, become `?`.
  package var printable: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: text.append("?")
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text as lines of at most a number of columns, broken at spaces; a longer word is cut.
  package func wrapped(to width: Int) -> [String] {
    var lines: [String] = []
    for word in split(separator: " ").map({ String($0).cut(to: width) }) {
      if let last = lines.last, last.columns + 1 + word.columns <= width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}

extension Character {
  /// Two for the wide characters of East Asia and for pictures (Unicode Standard Annex 11), else one.
  fileprivate var columns: Int {
    guard let first = unicodeScalars.first?.value, first >= 0x1100 else { return 1 }
    if unicodeScalars.contains("\u{FE0F}") { return 2 }
    return switch first {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF,
      0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
