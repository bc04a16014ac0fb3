import Advertising
import ArgumentParser
import FleetHistory
import FleetPicture
import FoundationEssentials
import Scanning

/// Lists the changes of rooms that the history has.
struct ShowChanges: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Lists the changes of rooms that the history has.",
    discussion: """
      First comes the last change of each beacon before --since: it says where the beacon was then. \
      JSON has the changes as workers publish them, one a line.

      EXAMPLES
        beaconscan-fleet changes --database postgresql:///fleet --site museum --since 2h
        beaconscan-fleet changes --database postgresql:///fleet --site museum \\
          --beacon E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:7 --since 2026-01-15 --format json
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
  }

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var past: PastOptions

  @Option(help: ArgumentHelp("Only this beacon.", valueName: "uuid:major:minor"))
  var beacon: String?

  @Option(help: "The output: table or json.")
  var format = Format.table

  func run() throws {
    let beacon = try beacon.map { text in
      guard let constraint = BeaconConstraint(text), let major = constraint.major,
        let minor = constraint.minor
      else {
        throw ValidationError(
          "--beacon must be a beacon such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:7, not '\(text)'"
        )
      }
      return "\(BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor))"
    }
    let range = try past.range()
    let store = DatabaseChangeStore(try database.configuration())
    var isFirst = true
    try store.forEach(past.site, beacon, range) { changes in
      if format == .json {
        for change in changes { print(String(decoding: change.json, as: UTF8.self)) }
        return
      }
      let rows = changes.map(\.row)
      Table.print(
        isFirst ? [["time", "beacon", "from", "to", "probability", "missing"]] + rows : rows)
      isFirst = false
    }
  }
}

extension RoomChange {
  fileprivate var row: [String] {
    func place(_ room: String?, _ isOutside: Bool) -> String {
      room ?? (isOutside ? "outside" : "not known")
    }
    return [
      second.map(Table.time) ?? time, beacon, place(former, formerIsOutside),
      place(room, isOutside),
      "\((probability * 1000).rounded() / 1000)", missing.joined(separator: " "),
    ]
  }
}

extension DatabaseChangeStore {
  fileprivate func forEach(
    _ site: String, _ beacon: String?, _ range: Range<Int64>,
    _ body: ([RoomChange]) throws -> Void
  ) throws {
    do {
      try forEachPart(
        site: site, beacon: beacon, from: range.lowerBound, to: range.upperBound, body)
    } catch let error as DatabaseError {
      throw FleetError(error)
    }
  }
}

/// Shows how many beacons the rooms had in each hour.
struct ShowOccupancy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "occupancy",
    abstract: "Shows how many beacons each room had in each hour, and how long they stayed.",
    discussion: """
      A visit counts in the hour in which the beacon came, and its length in the hour in which it \
      left. Hours are those of UTC.

      EXAMPLES
        beaconscan-fleet occupancy --database postgresql:///fleet --site museum --since 7d
        beaconscan-fleet occupancy --database postgresql:///fleet --site museum --format csv
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    case csv
  }

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var past: PastOptions

  @Option(help: "The output: table, json or csv.")
  var format = Format.table

  func run() throws {
    let range = try past.range()
    let store = DatabaseChangeStore(try database.configuration())
    var changes: [RoomChange] = []
    try store.forEach(past.site, nil, range) { changes += $0 }
    let hours = RoomHour.hours(changes, from: range.lowerBound, to: range.upperBound)
    switch format {
    case .table:
      let names = ["hour", "room", "mean", "maximum", "visits", "median dwell"]
      Table.print(
        [names]
          + hours.map { hour in
            [
              Table.time(hour.hour), hour.room, hour.meanText, "\(hour.maximum)", "\(hour.visits)",
              hour.medianDwell.map { "\($0) s" } ?? "–",
            ]
          })
    case .json: for hour in hours { print(try hour.json(site: past.site)) }
    case .csv:
      print("hour,site,room,mean,maximum,visits,medianDwell")
      for hour in hours {
        let room =
          "\"\(hour.room.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
        print(
          "\(Table.time(hour.hour)),\(past.site),\(room),\(hour.meanText),\(hour.maximum),"
            + "\(hour.visits),\(hour.medianDwell.map { "\($0)" } ?? "")")
      }
    }
  }
}

extension RoomHour {
  fileprivate var meanText: String { "\((mean * 1000).rounded() / 1000)" }

  fileprivate func json(site: String) throws -> String {
    struct Line: Encodable {
      var site: String
      var hour: String
      var room: String
      var mean: Double
      var maximum: Int
      var visits: Int
      var medianDwell: Double?
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = Line(
      site: site, hour: Table.time(hour), room: room, mean: (mean * 1000).rounded() / 1000,
      maximum: maximum, visits: visits, medianDwell: medianDwell)
    return String(decoding: try encoder.encode(line), as: UTF8.self)
  }
}
