import Glibc

/// The user's locale.
enum Locale {
  /// Whether it has all characters: its encoding is UTF-8.
  static let hasUnicode: Bool = {
    unsafe setlocale(LC_CTYPE, "")
    // Nothing changes the locale afterwards.
    return unsafe strcmp(nl_langinfo(CInt(CODESET)), "UTF-8") == 0
  }()
}

extension String {
  /// The text with a similar character of ASCII in place of each that the command writes, and `?` in place of any other.
  /// Columns stay as wide as they were.
  var ascii: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          guard !scalar.isASCII else { return scalar }
          return Self.similar[scalar] ?? "?"
        }))
  }

  private static let similar: [Unicode.Scalar: Unicode.Scalar] = [
    "…": "~", "±": "~", "→": ">", "–": "-", "−": "-", "°": " ", "·": ".", "×": "x",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#",
  ]
}
