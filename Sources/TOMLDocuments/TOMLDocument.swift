/// A TOML 1.0 document (<https://toml.io/en/v1.0.0>): its values, their positions, its problems.
///
/// After a problem, the reader continues with the next line. It reads at most 1 MiB, nests arrays
/// and inline tables at most 32 deep, and stops after 100 problems.
package struct TOMLDocument {
  /// The position of a character. Lines and columns count from 1, and a column is a Unicode scalar.
  package struct Position: Equatable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package var description: String { "line \(line), column \(column)" }
  }

  package struct Problem: Error, Equatable {
    package var offset: Int
    package var message: String

    package init(_ message: String, at offset: Int) {
      self.message = message
      self.offset = offset
    }
  }

  package let bytes: [UInt8]
  package let root: TOMLTable
  package let problems: [Problem]
  /// The offset of each line's first byte.
  private let lines: [Int]

  package static let maximumBytes = 1 << 20

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var reader = TOMLReader(bytes)
    reader.read()
    root = reader.root
    problems = reader.problems
    lines = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  package func position(of offset: Int) -> Position {
    let offset = min(offset, bytes.count)
    var (low, high) = (0, lines.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle } else { high = middle }
    }
    // A continuation byte of UTF-8 is not a character.
    let column = bytes[lines[low]..<offset].count { $0 & 0xC0 != 0x80 }
    return Position(line: low + 1, column: column + 1)
  }
}

package struct TOMLItem {
  package enum Value {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time of day, or both, as written.
    case time(String)
    case array([TOMLItem])
    case table(TOMLTable)
    /// The tables with a header `[[name]]`.
    case tables([TOMLTable])
  }

  package var value: Value
  /// The bytes of the value, or of the header for a table that has one.
  package var range: Range<Int>
}

/// A table with its keys in document order.
package final class TOMLTable {
  /// The form of a table's definition, which limits later additions.
  enum Form: Equatable {
    /// Only by a table inside it.
    case implicit
    case header
    /// By a dotted key in this part of the document.
    case dotted(part: Int)
    case inline
  }

  package struct Entry {
    package var key: String
    package var range: Range<Int>
    package var item: TOMLItem
  }

  package internal(set) var entries: [Entry] = []
  var form: Form
  /// The bytes of the header, the inline table or the key that defines it.
  package internal(set) var range: Range<Int>
  private var places: [String: Int] = [:]

  init(_ form: Form, range: Range<Int>) { (self.form, self.range) = (form, range) }

  package subscript(key: String) -> TOMLItem? { places[key].map { entries[$0].item } }

  /// Returns the table of a key, or `nil` if the key has another value or none.
  package func table(_ key: String) -> TOMLTable? {
    if case .table(let table)? = self[key]?.value { table } else { nil }
  }

  func add(_ key: String, at range: Range<Int>, _ item: TOMLItem) {
    places[key] = entries.count
    entries.append(Entry(key: key, range: range, item: item))
  }

  func replace(_ key: String, with value: TOMLItem.Value) {
    if let place = places[key] { entries[place].item.value = value }
  }
}
