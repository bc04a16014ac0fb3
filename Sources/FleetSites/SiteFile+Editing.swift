package import Fusion
internal import TOMLDocuments

extension SiteFile {
  /// Returns a site file with levels in place of those of the same rooms, and else as it was, comments
  /// included.
  ///
  /// - Throws: An error if the file has one, or if it does not have the room or receiver of a level.
  package static func bytes(
    _ bytes: [UInt8], setting levels: [Site.Level]
  ) throws(SiteFileError) -> [UInt8] {
    _ = try SiteFile(parsing: bytes)
    let document = TOMLDocument(bytes)
    var former: [[String]: [TOMLTable]] = [:]
    if case .tables(let tables)? = document.root["levels"]?.value {
      for table in tables {
        if case .string(let room)? = table["room"]?.value,
          case .string(let receiver)? = table["receiver"]?.value
        {
          former[[room, receiver], default: []].append(table)
        }
      }
    }
    var edits: [(range: Range<Int>, text: String)] = []
    let rooms = Set(levels.map(\.room))
    for (key, tables) in former where rooms.contains(key[0]) {
      guard !levels.contains(where: { [$0.room, $0.receiver] == key }) else { continue }
      edits += tables.map { (lines(of: $0, in: bytes), "") }
    }
    var added = ""
    for level in levels {
      let tables = former[[level.room, level.receiver]] ?? []
      for table in tables {
        for (key, value) in [("rssi", "\(level.rssi)"), ("seconds", "\(level.seconds)")] {
          if let item = table[key] { edits.append((item.range, value)) }
        }
      }
      if tables.isEmpty {
        added += """

          [[levels]]
          room = \(TOMLDocument.quoted(level.room))
          receiver = \(TOMLDocument.quoted(level.receiver))
          rssi = \(level.rssi)
          seconds = \(level.seconds)

          """
      }
    }
    if !added.isEmpty, bytes.last != UInt8(ascii: "\n") { added = "\n" + added }
    edits.append((bytes.count..<bytes.count, added))
    let edited = document.replacing(edits).bytes
    _ = try SiteFile(parsing: edited)
    return edited
  }

  /// The lines of a table with a header, and an empty line before them.
  private static func lines(of table: TOMLTable, in bytes: [UInt8]) -> Range<Int> {
    let newline = UInt8(ascii: "\n")
    let last = table.entries.map(\.item.range.upperBound).max() ?? table.range.upperBound
    let end = bytes[last...].firstIndex(of: newline).map { $0 + 1 } ?? bytes.count
    var start = bytes[..<table.range.lowerBound].lastIndex(of: newline).map { $0 + 1 } ?? 0
    if bytes[..<start].suffix(2) == [newline, newline] { start -= 1 }
    return start..<end
  }

  /// Returns a site file with the receivers' offsets, the exponent and the loss of walls of a site
  /// with the same receivers, and else as it was, comments included.
  ///
  /// - Throws: An error if the file has one, or has `[signal]` in another form.
  package static func bytes(
    _ bytes: [UInt8], settingLawOf site: Site
  ) throws(SiteFileError) -> [UInt8] {
    let former = try SiteFile(parsing: bytes).site
    var document = TOMLDocument(bytes)
    do throws(TOMLDocument.Problem) {
      for (key, path) in [
        ("exponent", \Site.Propagation.exponent), ("wallLoss", \Site.Propagation.wallLoss),
      ] where former.propagation[keyPath: path] != site.propagation[keyPath: path] {
        document = try document.setting(
          key, to: "\(site.propagation[keyPath: path])", in: ["signal"])
      }
      for (index, receiver) in former.receivers.enumerated() {
        guard
          let offset = site.receivers.first(where: { $0.name == receiver.name })?.offset,
          offset != receiver.offset,
          case .tables(let tables)? = document.root["receivers"]?.value,
          tables.indices.contains(index)
        else { continue }
        document = try document.setting("offset", to: "\(offset)", in: tables[index])
      }
    } catch {
      let position = document.position(of: error.offset)
      throw SiteFileError(
        line: position.line, column: position.column, message: error.message)
    }
    _ = try SiteFile(parsing: document.bytes)
    return document.bytes
  }
}
