package import Scanning

package struct Column<Row>: Sendable {
  package enum Alignment: Sendable { case left, right }

  /// The importance of a column. A table that is too wide omits whole columns: the least important
  /// first, and of equal ones the last.
  package enum Priority: Int, Sendable, CaseIterable {
    case extra, detail, usual, main
    /// The column is never omitted.
    case key
  }

  package enum Fit: Sendable {
    case whole
    /// Texts are cut at the end, with a mark, but not below this width.
    case cut(to: Int)
    /// Texts keep their first eight and last four characters, with a mark between them.
    case ends
  }

  fileprivate enum Content: Sendable {
    case text(@Sendable (Row) -> String?)
    /// A time with this number of decimals. A narrow table shows the time of day only.
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
  /// The parameter of the SGR escape sequence (ECMA-48) that colors a cell.
  fileprivate var color: (@Sendable (Row) -> Int)?

  /// Creates a column. The field supplies a missing title, its key in capitals, and a missing text,
  /// its value. The width is for tables written line by line. Late columns come last.
  package init(
    _ title: String? = nil, _ alignment: Alignment = .left, width: Int = 0, isLate: Bool = false,
    missing: String = "–", priority: Priority = .usual, fit: Fit = .whole,
    text: (@Sendable (Row) -> String?)? = nil
  ) {
    self.title = title
    self.alignment = alignment
    self.width = width
    self.isLate = isLate
    self.missing = missing
    self.priority = priority
    self.fit = fit
    content = text.map { .text($0) }
  }

  package init(
    _ title: String? = nil, isLate: Bool = false, priority: Priority = .usual, digits: Int = 3,
    time: @escaping @Sendable (Row) -> WallClockTime?
  ) {
    self.init(title, isLate: isLate, priority: priority, text: nil)
    content = .time(time, digits: digits)
  }

  package func colored(_ color: @escaping @Sendable (Row) -> Int) -> Column {
    var column = self
    column.color = color
    return column
  }

  func filled(_ title: String, _ text: @escaping @Sendable (Row) -> String?) -> Column {
    var column = Column(
      self.title ?? title, alignment, width: width, isLate: isLate, missing: missing,
      priority: priority, fit: fit, text: text)
    column.content = content ?? column.content
    column.color = color
    return column
  }

  package func label(_ row: Row) -> (title: String, text: String)? {
    guard case .text(let text) = content else { return nil }
    return text(row).map { (title ?? "", $0) }
  }
}

/// A table of text that fits its width by ``Column/Fit`` and ``Column/Priority``. A cut text ends
/// in `…`, and so does the header of a table that omits columns. Cells have no control characters.
package struct Table<Row> {
  private let columns: [Column<Row>]
  private let zone: ClockZone
  private let width: Int?
  private let hasColor: Bool

  package init(
    _ columns: [Column<Row>], _ zone: ClockZone = .local, width: Int? = nil, hasColor: Bool = false
  ) {
    self.columns = columns
    self.zone = zone
    self.width = width
    self.hasColor = hasColor
  }

  /// Returns the header and a line for each row. A column is as wide as its widest cell.
  package func lines(_ rows: [Row]) -> [String] {
    let cells = columns.map { column in rows.map { cell(column, $0) } }
    let layout = Layout(
      columns.enumerated().map { index, column in
        let short = cells[index].map { shortened(column, $0) }
        // Shortened texts must remain different.
        let isAmbiguous = Set(cells[index]).count != Set(short).count
        return Layout.Part(
          column,
          natural: max(column.titleWidth, cells[index].lazy.map(\.columns).max() ?? 0),
          minimum: isAmbiguous ? nil : short.lazy.map(\.columns).max() ?? 0)
      }, width: width)
    return [header(layout)]
      + rows.indices.map { row in line(layout, rows[row]) { cells[$0][row] } }
  }

  /// Returns the lines that fit a height. The last one states how many rows do not.
  package func lines(_ rows: [Row], height: Int) -> [String] {
    guard rows.count + 1 > height else { return lines(rows) }
    let shown = max(0, height - 2)
    return lines(Array(rows.prefix(shown))).prefix(max(0, height - 1))
      + ["… \(rows.count - shown) more"]
  }

  package var header: String { header(layoutOfLines) }

  /// Whether a table that is written line by line omits columns.
  package var isCut: Bool { layoutOfLines.isCut }

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

  /// The width in a table that is written line by line.
  fileprivate func width(in zone: ClockZone) -> Int {
    if case .time(_, let digits) = content { zone.width(digits: digits) } else { width }
  }

  /// Whether the column takes all width that is left in a table written line by line.
  fileprivate var isOpen: Bool { if case .cut = fit { width == 0 } else { false } }

  fileprivate func shortWidth(in zone: ClockZone) -> Int? {
    if case .time = content { return zone.shortWidth }
    if case .ends = fit { return 13 }
    return nil
  }
}

private struct Layout {
  struct Part {
    let priority: Int
    let isKey: Bool
    let natural: Int
    let minimum: Int
    /// Whether the column may have any width from the minimum to the natural one.
    let isCut: Bool

    init<Row>(_ column: Column<Row>, natural: Int, minimum: Int?) {
      priority = column.priority.rawValue
      isKey = column.priority == .key
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
    // The mark in the header needs three columns.
    while total + (isCut ? 3 : 0) > width {
      let left = parts.indices.filter { widths[$0] != nil && !parts[$0].isKey }
      guard let least = left.map({ parts[$0].priority }).min(),
        let last = left.last(where: { parts[$0].priority == least })
      else { break }
      widths[last] = nil
      isCut = true
    }
    // Texts get the width that is left, first those that can use any part of it.
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
