/// A TOML 1.0 document (<https://toml.io/en/v1.0.0>): its values, where each of them stands, and every problem.
///
/// ```swift
/// let document = TOMLDocument(bytes)
/// for problem in document.problems { print(document.position(of: problem.offset), problem.message) }
/// if case .string(let format) = document.root["format"]?.value { use(format) }
/// ```
///
/// The reader goes on after a problem with the next line, so that all of them are found at once. It reads 1 MiB at
/// most, nests arrays and inline tables 32 deep at most, and stops after 100 problems.
package struct TOMLDocument {
  /// Where a character stands, from 1 on; a column is a character.
  package struct Position: Equatable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package var description: String { "line \(line), column \(column)" }
  }

  /// Why a place of the document is not TOML: a clause without its place.
  package struct Problem: Error, Equatable {
    /// The byte at which it begins.
    package var offset: Int
    package var message: String

    package init(_ message: String, at offset: Int) {
      (self.message, self.offset) = (message, offset)
    }
  }

  /// The bytes of the document.
  package let bytes: [UInt8]
  /// What stands in it; where there are problems, what could be read.
  package let root: TOMLTable
  /// What is wrong, in the order of its lines; the first 100.
  package let problems: [Problem]
  /// Where each line begins.
  private let lines: [Int]

  /// The most bytes that are read.
  package static let maximumBytes = 1 << 20

  /// Reads a document.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var reader = TOMLReader(bytes)
    reader.read()
    (root, problems) = (reader.root, reader.problems)
    lines = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// Returns the position of a byte.
  package func position(of offset: Int) -> Position {
    let offset = min(offset, bytes.count)
    var (low, high) = (0, lines.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lines[middle] <= offset { low = middle } else { high = middle }
    }
    // The rest of a UTF-8 character is none of its own.
    let column = bytes[lines[low]..<offset].count { $0 & 0xC0 != 0x80 }
    return Position(line: low + 1, column: column + 1)
  }
}

/// A value and the bytes at which it stands.
package struct TOMLItem {
  package enum Value {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time of day, or both, as it is written.
    case time(String)
    case array([TOMLItem])
    case table(TOMLTable)
    /// The tables of a header in two brackets, `[[name]]`.
    case tables([TOMLTable])
  }

  package var value: Value
  /// The bytes of the value; of a table with a header, those of the header.
  package var range: Range<Int>
}

/// A table: its keys in their order.
package final class TOMLTable {
  /// How a table came to be, which decides what may be added to it.
  enum Form: Equatable {
    /// It was not written itself, only a table in it.
    case implicit
    /// By its header.
    case header
    /// By a dotted key, in a part of the document.
    case dotted(part: Int)
    /// In braces.
    case inline
  }

  package struct Entry {
    package var key: String
    /// The bytes of the key.
    package var range: Range<Int>
    package var item: TOMLItem
  }

  package internal(set) var entries: [Entry] = []
  var form: Form
  /// The bytes of the header, or of the value in braces, or of the key.
  package internal(set) var range: Range<Int>
  private var places: [String: Int] = [:]

  init(_ form: Form, range: Range<Int>) { (self.form, self.range) = (form, range) }

  package subscript(key: String) -> TOMLItem? { places[key].map { entries[$0].item } }

  /// Returns the table of a key; `nil` where there is another value or none.
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
