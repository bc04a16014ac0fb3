import Advertising
import FleetPicture
import FleetSites
import FoundationEssentials
import Fusion
import Scanning

enum JSON {
  /// Encodes a value whose texts and numbers JSON has.
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map(Array.init) ?? []
  }
}

/// A site in the list of all sites.
struct SiteSummary: Encodable {
  var site: String
  /// The time of its last picture.
  var time: String?
  var rooms: Int
  var receivers: Int
  var receiversMissing: Int
  var beacons: Int
  var beaconsInRooms: Int
  var alarms: Int

  init(_ state: SiteState) {
    site = state.name
    time = state.second.map(Seconds.text)
    rooms = state.file?.site.rooms.count ?? 0
    receivers = state.receivers.count
    receiversMissing = state.receivers.count(where: \.isMissing)
    beacons = state.beacons.count
    beaconsInRooms = state.beacons.values.count { $0.room != nil }
    alarms = state.alarms.count
  }
}

/// A site with everything that its page shows.
struct SiteAnswer: Encodable {
  struct Plan: Encodable {
    var floor: Int
    var x: Double
    var y: Double
    var metersPerPixel: Double
  }

  struct Room: Encodable {
    var room: String
    var floor: Int
    var outline: [[Double]]
    var beacons: Int
  }

  struct Receiver: Encodable {
    var receiver: String
    var floor: Int
    var at: [Double]?
    var room: String?
    var isMissing: Bool?
    var lastReport: String?
    var receptionLost: String?
    var beacons: Int?
    var clockDifference: Double?
    /// The reason that its last report could not be used.
    var refusal: String?
    var configuration: SitePicture.Receiver.Configuration?
    /// The version of the configuration that it is to have.
    var wantedConfiguration: String?
  }

  struct Beacon: Encodable {
    var beacon: String
    var name: String?
    /// The rooms that it may be in, if not all.
    var rooms: [String]?
    var room: String?
    var isOutside: Bool
    var since: String
    var probability: Double
    var best: String?
    var bestProbability: Double
    var runnerUp: String?
    var runnerUpProbability: Double
    var x: Double?
    var y: Double?
    var received: String
    /// How much weaker it is received for a day than before, in dB, if that is much.
    var fading: Double?
  }

  var site: String
  var time: String?
  var fault: String?
  var plans: [Plan]
  var rooms: [Room]
  var receivers: [Receiver]
  var beacons: [Beacon]
  var strangers: [String]
  var ignored: Int
  var alarms: [Alarm]

  /// Describes a site, with the alarm of the connection to the engine.
  init(_ state: SiteState, engine: Alarm?) {
    site = state.name
    time = state.second.map(Seconds.text)
    fault = state.fault
    let file = state.file
    plans = (file?.plans ?? []).map {
      Plan(floor: $0.floor, x: $0.corner.x, y: $0.corner.y, metersPerPixel: $0.metersPerPixel)
    }
    let counts = state.counts
    rooms = (file?.site.rooms ?? []).map { room in
      Room(
        room: room.name, floor: room.floor, outline: room.outline.map { [$0.x, $0.y] },
        beacons: counts[room.name] ?? 0)
    }
    receivers = Self.receivers(state)
    beacons = state.beacons.values.sorted { $0.beacon < $1.beacon }.map { Beacon($0, file) }
    strangers = state.strangers
    ignored = state.ignored
    alarms = (engine.map { [$0] } ?? []) + state.alarms.values.ordered
  }

  /// The receivers of the site file, and those that only the picture has.
  private static func receivers(_ state: SiteState) -> [Receiver] {
    let pictures = Dictionary(
      state.receivers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let known = state.file?.site.receivers ?? []
    let names = Set(known.map(\.name))
    return known.map { receiver in
      Receiver(
        receiver.name, receiver.floor, receiver.position.map { [$0.x, $0.y] }, receiver.room,
        pictures[receiver.name], wanted: state.wanted[receiver.name])
    }
      + state.receivers.filter { !names.contains($0.name) }.map {
        Receiver($0.name, 0, nil, nil, $0, wanted: nil)
      }
  }
}

extension SiteAnswer.Receiver {
  init(
    _ name: String, _ floor: Int, _ at: [Double]?, _ room: String?,
    _ picture: SitePicture.Receiver?, wanted: String?
  ) {
    self.init(
      receiver: name, floor: floor, at: at, room: room, isMissing: picture?.isMissing,
      lastReport: picture?.lastReport, receptionLost: picture?.receptionLost,
      beacons: picture?.beacons, clockDifference: picture?.clockDifference,
      refusal: picture?.refusal, configuration: picture?.configuration,
      wantedConfiguration: wanted)
  }
}

extension SiteAnswer.Beacon {
  init(_ beacon: SitePicture.Beacon, _ file: SiteFile?) {
    let entry = file.flatMap { file in
      file.beacons.isEmpty
        ? nil : BeaconConstraint(beacon.beacon)?.identity.flatMap { file.beacons[$0] }
    }
    self.init(
      beacon: beacon.beacon, name: entry?.name, rooms: entry?.rooms?.sorted(), room: beacon.room,
      isOutside: beacon.isOutside, since: beacon.since, probability: beacon.probability,
      best: beacon.best, bestProbability: beacon.bestProbability, runnerUp: beacon.runnerUp,
      runnerUpProbability: beacon.runnerUpProbability, x: beacon.x, y: beacon.y,
      received: beacon.received, fading: beacon.fading)
  }
}

/// The occupancy of a site's rooms by hour.
struct OccupancyAnswer: Encodable {
  struct Room: Encodable {
    var room: String
    var mean: Double
    var maximum: Int
    var visits: Int
    var medianDwell: Double?
  }

  struct Hour: Encodable {
    /// The beginning, in RFC 3339.
    var hour: String
    var rooms: [Room]
  }

  var from: String
  var to: String
  var knownFrom: String?
  /// The end of the hours, if there are too many changes in the time that was asked for.
  var knownTo: String?
  var hours: [Hour]

  init(
    _ moves: [RoomMove<BeaconIdentity>], _ known: FleetHub.Moves, from: Int64, to: Int64
  ) {
    self.from = Seconds.text(from)
    self.to = Seconds.text(to)
    knownFrom = known.knownFrom.map(Seconds.text)
    let end = known.knownTo
    knownTo = end < to ? Seconds.text(end) : nil
    let found = Dictionary(grouping: RoomHour.hours(moves, from: from, to: end), by: \.hour)
    hours = stride(from: from - from % 3600, to: end, by: 3600).map { hour in
      Hour(
        hour: Seconds.text(hour),
        rooms: (found[hour] ?? []).map {
          Room(
            room: $0.room, mean: (100 * $0.mean).rounded() / 100, maximum: $0.maximum,
            visits: $0.visits, medianDwell: $0.medianDwell)
        })
    }
  }
}
