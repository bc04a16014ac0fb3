/// A column of a table for people.
package struct Column<Row>: Sendable {
  package enum Alignment: Sendable { case left, right }

  fileprivate let title: String?
  fileprivate let alignment: Alignment
  fileprivate let width: Int
  let isLate: Bool
  private let missing: String
  private let text: (@Sendable (Row) -> String?)?

  /// Describes a column. A field fills in the title and the text that are not given: its key in capitals, its
  /// value.
  ///
  /// The width is that in a table whose lines are written one by one. A late column comes after those of later
  /// fields.
  package init(
    _ title: String? = nil, _ alignment: Alignment = .left, width: Int = 0, isLate: Bool = false,
    missing: String = "–", text: (@Sendable (Row) -> String?)? = nil
  ) {
    (self.title, self.alignment, self.width) = (title, alignment, width)
    (self.isLate, self.missing, self.text) = (isLate, missing, text)
  }

  /// The column with a title and a text where it has none.
  func filled(_ title: String, _ text: @escaping @Sendable (Row) -> String?) -> Column {
    Column(
      self.title ?? title, alignment, width: width, isLate: isLate, missing: missing,
      text: self.text ?? text)
  }

  /// The column's title and cell, where the row has one.
  package func label(_ row: Row) -> (title: String, text: String)? {
    text?(row).map { (title ?? "", $0) }
  }

  fileprivate func cell(_ row: Row) -> String { text?(row) ?? missing }
}

/// Columns of text.
package struct Table<Row> {
  private let columns: [Column<Row>]

  package init(_ columns: [Column<Row>]) { self.columns = columns }

  /// The table of some rows, header first; each column is as wide as its widest cell.
  package func lines(_ rows: [Row]) -> [String] {
    let cells = [titles] + rows.map { row in columns.map { $0.cell(row) } }
    let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { line($0, widths) }
  }

  /// The header of a table whose lines are written one by one.
  package var header: String { line(titles, columns.map(\.width)) }

  /// A line of a table whose lines are written one by one.
  package func line(_ row: Row) -> String {
    line(columns.map { $0.cell(row) }, columns.map(\.width))
  }

  private var titles: [String] { columns.map { $0.title ?? "" } }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for index in columns.indices {
      if index > 0 { line += "  " }
      let padding = String(repeating: " ", count: max(0, widths[index] - cells[index].count))
      line += columns[index].alignment == .left ? cells[index] + padding : padding + cells[index]
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
