import Foundation
import Testing

/// The tables of docs/corelocation.md that have a status, and what was asked for.
struct MemberTable {
  enum Status: String {
    case works
    case notOnLinux = "not on Linux"
  }

  struct Row {
    /// The first cell: members in backquotes, or words.
    var members: [String]
    var older: String
    var status: Status
    var remark: String
  }

  /// A line of Members/asked.txt.
  struct Asked {
    var member: String
    var older: [String]
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  var rows: [Row] = []

  init() throws {
    let page = try Self.text("docs/corelocation.md")
    for line in page.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      // An empty cell before the first bar, and one after the last.
      guard cells.count == 6, let status = Status(rawValue: cells[3]) else { continue }
      let members = Self.quoted(cells[1])
      rows.append(
        Row(
          members: members.isEmpty ? [cells[1]] : members, older: cells[2], status: status,
          remark: cells[4]))
    }
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// What stands between backquotes.
  static func quoted(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .compactMap { $0.offset.isMultiple(of: 2) ? nil : String($0.element) }
  }

  static func asked() throws -> [Asked] {
    try text("Tests/ManagerTests/Members/asked.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .map { line in
        let parts = line.split(separator: "[").map {
          $0.trimmingCharacters(in: CharacterSet(charactersIn: " ]="))
        }
        return Asked(member: parts[0], older: Array(parts.dropFirst()))
      }
  }
}
