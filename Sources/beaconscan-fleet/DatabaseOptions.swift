import ArgumentParser
import Clocks
import FleetHistory
import FoundationEssentials

/// The database of a fleet's history, as each subcommand that uses it is told.
struct DatabaseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The database of PostgreSQL, such as postgresql://user@db.local/fleet or 'host=/run/postgresql dbname=fleet'. "
        + "Its password is in PGPASSWORD, or in the file of PGPASSFILE.",
      valueName: "connection"))
  var database: String?

  @Option(
    help: ArgumentHelp(
      "A file whose first line is the connection, with a password if it needs one.",
      valueName: "file"))
  var databaseFile: String?

  /// The database, or `nil` if none is given.
  func configurationIfGiven() throws -> DatabaseConfiguration? {
    switch (database, databaseFile) {
    case (nil, nil): return nil
    case (let connection?, nil):
      let configuration = try parse(connection)
      guard !configuration.hasPassword else {
        throw ValidationError(
          "every user of the machine can read a password in --database; give it in PGPASSWORD, in "
            + "the file of PGPASSFILE, or in that of --database-file")
      }
      return configuration
    case (nil, let file?):
      let line = try Files.bytes(file).prefix { $0 != UInt8(ascii: "\n") }
      return try parse(String(decoding: line, as: UTF8.self))
    default: throw ValidationError("--database and --database-file are the same; give one of them")
    }
  }

  func configuration() throws -> DatabaseConfiguration {
    guard let configuration = try configurationIfGiven() else {
      throw ValidationError(
        "the history is in a database; give --database, such as postgresql:///fleet, or "
          + "--database-file")
    }
    return configuration
  }

  private func parse(_ connection: String) throws -> DatabaseConfiguration {
    do throws(DatabaseError) {
      return try DatabaseConfiguration(connection)
    } catch {
      throw FleetError(error)
    }
  }
}

extension FleetError {
  init(_ error: DatabaseError) {
    let status: Status =
      switch error.kind {
      case .usage, .schema: .badData
      case .library, .connection: .unavailable
      case .values, .refusal: .ioError
      case .canceled: .interrupted
      }
    self.init(status, error.description)
  }
}

/// The part of the history that a subcommand shows.
struct PastOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The site.", valueName: "name"))
  var site: String

  @Option(
    help: ArgumentHelp(
      "From this time on, such as 2026-01-15, 2026-01-15T08:00:00Z, or how long ago, such as 90m, 24h or 7d.",
      valueName: "time"))
  var since = "24h"

  @Option(help: ArgumentHelp("Before this time. Default: now.", valueName: "time"))
  var until: String?

  /// The seconds since 1970.
  func range() throws -> Range<Int64> {
    let now = WallClockTime.now.second
    let first = try Self.second(since, "--since", now: now)
    let end = try until.map { try Self.second($0, "--until", now: now) } ?? now + 1
    guard first < end else { throw ValidationError("--since must be earlier than --until") }
    return first..<end
  }

  static func second(_ text: String, _ option: String, now: Int64) throws -> Int64 {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    if let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
      0...1_000_000_000 ~= count
    {
      return max(0, now - count * unit)
    }
    let time = text.contains("T") ? text : "\(text)T00:00:00Z"
    let date =
      (try? Date(time, strategy: .iso8601))
      ?? (try? Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    guard let seconds = date?.timeIntervalSince1970, 0...9e9 ~= seconds else {
      throw ValidationError(
        "\(option) must be a time such as 2026-01-15 or 2026-01-15T08:00:00Z, or how long ago, such "
          + "as 24h, not '\(text)'")
    }
    return Int64(seconds)
  }
}

/// Rows of texts for people.
enum Table {
  /// Writes rows, of which the first one has the columns' names.
  static func print(_ rows: [[String]]) {
    var widths: [Int] = []
    for row in rows {
      for (index, cell) in row.enumerated() {
        if index == widths.count { widths.append(0) }
        widths[index] = max(widths[index], cell.count)
      }
    }
    for row in rows {
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      Swift.print(line)
    }
  }

  /// A time of the history, in RFC 3339, to the second.
  static func time(_ second: Int64) -> String {
    "\(WallClockTime(second: second).description.prefix(19))Z"
  }
}
