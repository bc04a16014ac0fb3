package import Scanning

/// A column of a table for people.
package struct Column<Row>: Sendable {
  package enum Alignment: Sendable { case left, right }

  /// How much a reader needs a column: a table that is too wide leaves out whole columns, those of the lowest
  /// priority first and of equal ones the last first.
  package enum Priority: Int, Sendable, CaseIterable {
    case extra, detail, usual, main
    /// The column is never left out.
    case key
  }

  /// What a column's texts become where the table is too wide.
  package enum Fit: Sendable {
    /// They stay as they are.
    case whole
    /// Texts are cut at their end, with a mark, down to so many columns of the terminal.
    case cut(to: Int)
    /// Texts keep their first eight characters and their last four, with a mark between them.
    case ends
  }

  /// What a column shows.
  fileprivate enum Content: Sendable {
    case text(@Sendable (Row) -> String?)
    /// A moment, with so many digits of a second; a narrow table has the time of day in its place.
    case time(@Sendable (Row) -> WallClockTime?, digits: Int)
  }

  fileprivate let title: String?
  fileprivate let alignment: Alignment
  fileprivate let width: Int
  let isLate: Bool
  fileprivate let missing: String
  fileprivate let priority: Priority
  fileprivate let fit: Fit
  fileprivate var content: Content?
  /// The parameter of the escape sequence (ECMA-48, SGR) that gives a cell its color.
  fileprivate var color: (@Sendable (Row) -> Int)?

  /// Describes a column. A field fills in the title and the text that are not given: its key in capitals, its
  /// value.
  ///
  /// The width is that in a table whose lines are written one by one. A late column comes after those of later
  /// fields.
  package init(
    _ title: String? = nil, _ alignment: Alignment = .left, width: Int = 0, isLate: Bool = false,
    missing: String = "–", priority: Priority = .usual, fit: Fit = .whole,
    text: (@Sendable (Row) -> String?)? = nil
  ) {
    (self.title, self.alignment, self.width) = (title, alignment, width)
    (self.isLate, self.missing, self.priority, self.fit) = (isLate, missing, priority, fit)
    content = text.map { .text($0) }
  }

  /// Describes a column of moments, with so many digits of a second.
  package init(
    _ title: String? = nil, isLate: Bool = false, priority: Priority = .usual, digits: Int = 3,
    time: @escaping @Sendable (Row) -> WallClockTime?
  ) {
    self.init(title, isLate: isLate, priority: priority, text: nil)
    content = .time(time, digits: digits)
  }

  /// The column with cells in a color of each row.
  package func colored(_ color: @escaping @Sendable (Row) -> Int) -> Column {
    var column = self
    column.color = color
    return column
  }

  /// The column with a title and a text where it has none.
  func filled(_ title: String, _ text: @escaping @Sendable (Row) -> String?) -> Column {
    var column = Column(
      self.title ?? title, alignment, width: width, isLate: isLate, missing: missing,
      priority: priority, fit: fit, text: text)
    (column.content, column.color) = (content ?? column.content, color)
    return column
  }

  /// The column's title and cell, where the row has one.
  package func label(_ row: Row) -> (title: String, text: String)? {
    guard case .text(let text) = content else { return nil }
    return text(row).map { (title ?? "", $0) }
  }
}

/// Columns of text.
///
/// A table with a width fits it: texts are shortened, and whole columns left out, by the rules of
/// ``Column/Fit`` and ``Column/Priority``. A cut text ends in `…`, and so does the header of a table that lacks
/// columns. No control character of a text reaches the terminal.
package struct Table<Row> {
  private let columns: [Column<Row>]
  private let zone: ClockZone
  private let width: Int?
  private let hasColor: Bool

  /// Describes a table with times of a zone, as wide as its cells where no width is given.
  package init(
    _ columns: [Column<Row>], _ zone: ClockZone = .local, width: Int? = nil, hasColor: Bool = false
  ) {
    (self.columns, self.zone, self.width, self.hasColor) = (columns, zone, width, hasColor)
  }

  /// The table of some rows, header first; each column is as wide as its widest cell.
  package func lines(_ rows: [Row]) -> [String] {
    let cells = columns.map { column in rows.map { cell(column, $0) } }
    let layout = Layout(
      columns.enumerated().map { index, column in
        let short = cells[index].map { shortened(column, $0) }
        // Different texts must not look the same.
        let isAmbiguous = Set(cells[index]).count != Set(short).count
        return Layout.Part(
          column,
          natural: max(column.titleWidth, cells[index].lazy.map(\.columns).max() ?? 0),
          minimum: isAmbiguous ? nil : short.lazy.map(\.columns).max() ?? 0)
      }, width: width)
    return [header(layout)]
      + rows.indices.map { row in line(layout, rows[row]) { cells[$0][row] } }
  }

  /// The table of those rows that fit a height, of which the last line may say how many do not.
  package func lines(_ rows: [Row], height: Int) -> [String] {
    guard rows.count + 1 > height else { return lines(rows) }
    let shown = max(0, height - 2)
    return lines(Array(rows.prefix(shown))).prefix(max(0, height - 1))
      + ["… \(rows.count - shown) more"]
  }

  /// The header of a table whose lines are written one by one.
  package var header: String { header(layoutOfLines) }

  /// Whether lines that are written one by one lack columns.
  package var isCut: Bool { layoutOfLines.isCut }

  /// A line of a table whose lines are written one by one.
  package func line(_ row: Row) -> String { line(layoutOfLines, row) { cell(columns[$0], row) } }

  private var layoutOfLines: Layout {
    Layout(
      columns.map { column in
        let natural = max(column.width(in: zone), column.titleWidth)
        return Layout.Part(
          column, natural: column.isOpen ? max(natural, 60) : natural,
          minimum: column.shortWidth(in: zone))
      }, width: width, isOpen: columns.map(\.isOpen))
  }

  private func cell(_ column: Column<Row>, _ row: Row) -> String {
    switch column.content {
    case .text(let text): (text(row) ?? column.missing).printable
    case .time(let time, let digits):
      time(row).map { zone.text($0, digits: digits) } ?? column.missing
    case nil: column.missing
    }
  }

  /// A cell in a column that is narrower than its widest cell.
  private func shortened(_ column: Column<Row>, _ cell: String) -> String {
    if case .time = column.content { return ClockZone.shortened(cell) }
    guard case .ends = column.fit, cell.count > 13 else { return cell }
    return cell.prefix(8) + "…" + cell.suffix(4)
  }

  private func header(_ layout: Layout) -> String {
    let line = line(layout, nil) { columns[$0].title ?? "" }
    return layout.isCut ? (line + "  …").cut(to: width ?? .max) : line
  }

  private func line(_ layout: Layout, _ row: Row?, _ text: (Int) -> String) -> String {
    var (line, isFirst) = ("", true)
    var padding = 0
    for (index, width) in zip(columns.indices, layout.widths) {
      guard let width else { continue }
      let column = columns[index]
      var cell = text(index)
      if self.width != nil, cell.columns > width {
        if row != nil { cell = shortened(column, cell) }
        cell = cell.cut(to: width)
      }
      let missing = max(0, width - cell.columns)
      let gap = (isFirst ? 0 : 2) + padding + (column.alignment == .right ? missing : 0)
      padding = column.alignment == .left ? missing : 0
      isFirst = false
      if cell.isEmpty {
        padding += gap
        continue
      }
      line += String(repeating: " ", count: gap)
      if hasColor, let row, let color = column.color {
        line += "\u{1B}[\(color(row))m\(cell)\u{1B}[0m"
      } else {
        line += cell
      }
    }
    return line
  }
}

extension Column {
  fileprivate var titleWidth: Int { (title ?? "").columns }

  /// The width in a table whose lines are written one by one.
  fileprivate func width(in zone: ClockZone) -> Int {
    if case .time(_, let digits) = content { zone.width(digits: digits) } else { width }
  }

  /// Whether nothing says how long its texts are where lines are written one by one.
  fileprivate var isOpen: Bool { if case .cut = fit { width == 0 } else { false } }

  /// The same where texts are shortened; `nil` where they are not.
  fileprivate func shortWidth(in zone: ClockZone) -> Int? {
    if case .time = content { return zone.shortWidth }
    if case .ends = fit { return 13 }
    return nil
  }
}

/// The widths of a table's columns; `nil` for those that are left out.
private struct Layout {
  struct Part {
    /// How late it is left out.
    let priority: Int
    let isKey: Bool
    let natural: Int
    let minimum: Int
    /// Whether every width between the two will do.
    let isCut: Bool

    init<Row>(_ column: Column<Row>, natural: Int, minimum: Int?) {
      (priority, isKey) = (column.priority.rawValue, column.priority == .key)
      self.natural = natural
      if case .cut(let least) = column.fit {
        isCut = true
        self.minimum = min(natural, max(least, column.titleWidth))
      } else {
        isCut = false
        self.minimum = min(natural, max(minimum ?? natural, column.titleWidth))
      }
    }
  }

  private(set) var widths: [Int?]
  /// Whether columns are left out.
  private(set) var isCut = false

  init(_ parts: [Part], width: Int?, isOpen: [Bool] = []) {
    widths = parts.map(\.natural)
    guard let width else { return }
    defer {
      for index in isOpen.indices where isOpen[index] {
        let room = max(0, width - total - (isCut ? 3 : 0))
        widths[index]? += room
      }
    }
    guard total > width else { return }
    widths = parts.map(\.minimum)
    // The mark of the header needs its place too.
    while total + (isCut ? 3 : 0) > width {
      let left = parts.indices.filter { widths[$0] != nil && !parts[$0].isKey }
      guard let least = left.map({ parts[$0].priority }).min(),
        let last = left.last(where: { parts[$0].priority == least })
      else { break }
      widths[last] = nil
      isCut = true
    }
    // What is left over makes texts longer again, first those of which any part is of use.
    for isCutText in [true, false] {
      for index in parts.indices where parts[index].isCut == isCutText {
        guard let now = widths[index] else { continue }
        let room = width - total - (isCut ? 3 : 0)
        let more = parts[index].natural - now
        if isCutText {
          widths[index] = now + max(0, min(more, room))
        } else if more <= room {
          widths[index] = parts[index].natural
        }
      }
    }
  }

  private var total: Int {
    let kept = widths.compactMap(\.self)
    return kept.reduce(0, +) + 2 * max(0, kept.count - 1)
  }
}
