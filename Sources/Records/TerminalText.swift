extension String {
  /// The width of the text, in columns of a terminal.
  package var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return unicodeScalars.reduce(0) { $0 + $1.columns }
  }

  /// Returns the text, cut and ended by `…` if it is wider than a number of columns.
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

  package var withoutControls: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
  }

  /// The text without characters that affect a terminal. Control characters, those that change the
  /// direction or the line, and those of unknown width become `?`. Variation selectors and skin
  /// tones on other characters are removed, since terminals disagree on their width.
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
      // A mark without a base would attach to the preceding output.
      case _ where scalar.columns == 0 && last == nil: text.append("?")
      default: text.unicodeScalars.append(scalar)
      }
      last = scalar
    }
    return text
  }

  /// Returns the text in lines of a width, broken at spaces. A longer word is cut, or gets a line.
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
  /// The width in columns (Unicode Standard Annex 11): 2 for wide East Asian characters and
  /// pictures, 0 for combining marks, otherwise 1.
  package var columns: Int {
    guard value >= 0x300 else { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    return switch value {
    // Medial and final Hangul jamo share the columns of the initial one.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
      0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      2
    // Two regional indicators form a flag.
    case 0x1F1E6...0x1F1FF: 1
    default: properties.isEmojiPresentation ? 2 : 1
    }
  }
}
