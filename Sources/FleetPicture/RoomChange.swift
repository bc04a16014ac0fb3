internal import FoundationEssentials

/// A change of a beacon's reported room, as workers publish it and history keeps it.
package struct RoomChange: Codable, Hashable, Sendable {
  /// `SITE/BEACON/SECOND`: a beacon has one change in a second at most, so the id names one change.
  package var id: String
  package var site: String
  /// The end of the second in which it changed, in RFC 3339.
  package var time: String
  /// `UUID:major:minor`.
  package var beacon: String
  /// The room before, or `nil` if it was outside or not known.
  package var former: String?
  package var formerIsOutside: Bool
  /// The room, or `nil` if the beacon is outside or its room is not known.
  package var room: String?
  package var isOutside: Bool
  /// The probability of the room, or of the outside.
  package var probability: Double
  /// The second most probable room, or `nil` if that is the outside.
  package var runnerUp: String?
  package var runnerUpProbability: Double
  /// The receivers that did not report in that second.
  package var missing: [String]

  package init(
    site: String, second: Int64, time: String, beacon: String, former: String?,
    formerIsOutside: Bool, room: String?, isOutside: Bool, probability: Double,
    runnerUp: String?, runnerUpProbability: Double, missing: [String]
  ) {
    id = "\(site)/\(beacon)/\(second)"
    self.site = site
    self.time = time
    self.beacon = beacon
    self.former = former
    self.formerIsOutside = formerIsOutside
    self.room = room
    self.isOutside = isOutside
    self.probability = probability
    self.runnerUp = runnerUp
    self.runnerUpProbability = runnerUpProbability
    self.missing = missing
  }

  /// The seconds that a time in nanoseconds since 1970 can have.
  package static let seconds: ClosedRange<Int64> = 0...9_223_372_036

  /// The second of the change, since 1970, or `nil` if the id has none.
  package var second: Int64? { id.split(separator: "/").last.flatMap { Int64($0) } }
}

extension RoomChange {
  package init(json: [UInt8]) throws { self = try PictureJSON.decode(json) }
  package var json: [UInt8] { PictureJSON.encode(self) }
}

/// The JSON of what workers publish. Members without a value are absent.
enum PictureJSON {
  static func decode<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(bytes))
  }

  /// Encodes a value whose texts and numbers JSON has.
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map(Array.init) ?? []
  }
}
