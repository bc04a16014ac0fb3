import Advertising
import Clocks
import FleetEngine
import FleetReports
import FleetWork
import FoundationEssentials
import Fusion
import Logging
import Scanning

/// The true room of a beacon in a second, as a line of JSON.
struct TruthLine: Codable {
  var second: Int64
  var beacon: String
  var room: String

  init(second: Int64, beacon: String, room: String) {
    self.second = second
    self.beacon = beacon
    self.room = room
  }

  init?(_ line: [UInt8]) {
    guard let parsed = try? JSONDecoder().decode(Self.self, from: Data(line)) else { return nil }
    self = parsed
  }

  var json: [UInt8] { lineOfJSON(self) }

  var identity: BeaconIdentity? { BeaconConstraint(beacon)?.identity }

  /// Reads the rooms of each second from a file.
  static func rooms(_ path: String) throws -> [Int64: [(beacon: BeaconIdentity, room: String)]] {
    var rooms: [Int64: [(beacon: BeaconIdentity, room: String)]] = [:]
    for (number, line) in try Files.lines(path).enumerated() {
      guard let line = TruthLine(line), let beacon = line.identity else {
        throw FleetError(
          .badData,
          "\(path): line \(number + 1): expected second, beacon and room, as simulate writes them")
      }
      rooms[line.second, default: []].append((beacon, line.room))
    }
    return rooms
  }
}

extension InputLines {
  /// Reads the next report, or returns `nil` at the end of the file.
  func nextReport() throws(FleetError) -> ReceiverReport? {
    guard let line = try next() else { return nil }
    do throws(ReportError) {
      return try unsafe ReceiverReport(parsing: line.span.bytes)
    } catch {
      throw FleetError(.badData, "\(path): line \(number): \(error)")
    }
  }
}

extension RoomTransition {
  /// The columns: time, beacon, former place, place, its probability.
  var row: String {
    "\(WallClockTime(second: second))  \(estimate.beacon)  \(former.text) → "
      + "\(estimate.place.text)  \(estimate.probability.rounded)"
  }
}

extension Whereabouts {
  fileprivate var text: String {
    switch self {
    case .room(let name): name
    case .outside: "outside"
    case .unknown: "not known"
    }
  }
}

/// Encodes a value whose texts and numbers JSON has.
private func lineOfJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)).map(Array.init) ?? []
}

extension ReceiverReport {
  /// A simulated report.
  init(_ second: ReceiverSecond, site: String) {
    self.init(
      site: site, receiver: second.receiver, boot: second.boot, number: Int(second.number),
      time: WallClockTime(nanoseconds: second.time * 1_000_000), seconds: second.seconds,
      beacons: second.receptions.map { reception in
        Beacon(
          reception.beacon, sightings: reception.count,
          signal: reception.mean.map {
            Signal(mean: $0, variance: 0, maximum: Int8(max(-127, min(20, $0.rounded(.up)))))
          }, measuredPower: reception.measuredPower ?? -59)
      })
  }
}

extension ReceiverReport {
  /// Reads a report of a site from the engine's stream, where no receiver reports for another one.
  init?(_ entry: StreamEntry, of site: String) {
    guard entry.routingKey.contains(".\(site)."),
      let report = try? unsafe ReceiverReport(parsing: entry.body.span.bytes),
      entry.routingKey == FleetTopic.routingKey(ofSite: site, receiver: report.receiver),
      report.site == site
    else { return nil }
    self = report
  }
}

extension Logger {
  /// A logger of the engine's failures, to standard error.
  static var ofCommand: Logger {
    var logger = Logger(label: "beaconscan-fleet") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    return logger
  }
}
