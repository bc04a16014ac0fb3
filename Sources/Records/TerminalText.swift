// Text as a terminal shows it.

extension String {
  /// The number of a terminal's columns that the text occupies.
  package var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return unicodeScalars.reduce(0) { $0 + $1.columns }
  }

  /// The text, or its beginning and `…` where it is wider than a number of columns.
  package func cut(to width: Int) -> String {
    guard columns > width else { return self }
    var (text, left) = ("", width - 1)
    for character in self {
      left -= String(character).columns
      guard left >= 0 else { break }
      text.append(character)
    }
    return width > 0 ? text + "…" : ""
  }

  /// The text with `?` for each control character.
  package var withoutControls: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
  }

  /// The text without what a terminal acts on: control characters, those that change the direction or the line, and
  /// those of no known width become `?`. Selectors of variants and of skin colors, which terminals give different widths,
  /// are left out.
  package var printable: String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var text = ""
    var last: Unicode.Scalar?
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        text.append("?")
      case _ where scalar.properties.isVariationSelector: continue
      case _ where scalar.properties.isEmojiModifier:
        if last?.properties.isEmojiModifierBase != true { text.unicodeScalars.append(scalar) }
      // It would stand over what is before the text.
      case _ where scalar.columns == 0 && last == nil: text.append("?")
      default: text.unicodeScalars.append(scalar)
      }
      last = scalar
    }
    return text
  }

  /// The text as lines of at most a number of columns, broken at spaces; a longer word is cut, or stands on a line of its
  /// own.
  package func wrapped(to width: Int, cutsWords: Bool = true) -> [String] {
    var lines: [String] = []
    let words = split(separator: " ", omittingEmptySubsequences: cutsWords)
    for word in words.map({ cutsWords ? String($0).cut(to: width) : String($0) }) {
      if let last = lines.last, last.columns + 1 + word.columns <= width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}

extension Unicode.Scalar {
  /// Two for the wide characters of East Asia and for pictures (Unicode Standard Annex 11), none for marks over others, else
  /// one.
  package var columns: Int {
    guard value >= 0x300 else { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    return switch value {
    // The parts of Hangul's syllables that stand in the first part's columns.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
      0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      2
    // Two of them are a flag.
    case 0x1F1E6...0x1F1FF: 1
    default: properties.isEmojiPresentation ? 2 : 1
    }
  }
}
