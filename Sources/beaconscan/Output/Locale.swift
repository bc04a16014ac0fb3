import Glibc
import Records

enum Locale {
  static let hasUnicode: Bool = {
    unsafe setlocale(LC_CTYPE, "")
    // Nothing changes the locale afterwards.
    return unsafe strcmp(nl_langinfo(CInt(CODESET)), "UTF-8") == 0
  }()
}

extension String {
  /// The text in ASCII, with similar characters for those that the command writes, and `?` for each
  /// column of others.
  var ascii: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var text = ""
    for scalar in unicodeScalars {
      if let similar = scalar.isASCII ? scalar : Self.similar[scalar] {
        text.unicodeScalars.append(similar)
      } else {
        text += String(repeating: "?", count: scalar.columns)
      }
    }
    return text
  }

  private static let similar: [Unicode.Scalar: Unicode.Scalar] = [
    "…": "~", "±": "~", "→": ">", "–": "-", "−": "-", "°": " ", "·": ".", "×": "x",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#",
  ]
}
