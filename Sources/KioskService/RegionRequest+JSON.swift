import FoundationEssentials
import Frontends
import Positioning
import Records
import Scanning

extension RegionRequest {
  /// The most bytes in a request's body.
  static let maximumBytes = 16 << 10

  private enum Value: Decodable {
    case text(String)
    case number(Double)
    case boolean(Bool)
    case null

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .boolean(value)
      } else if let value = try? container.decode(Double.self) {
        self = .number(value)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
  }

  private static let circleKeys = ["latitude", "longitude", "radius"]

  /// Reads a request's body: an object with `latitude`, `longitude` and `radius`, or with `uuid`,
  /// `major`, `minor` and rules named like the options of `monitor`.
  init(json: [UInt8], name: String) throws(RegionRefusal) {
    let example =
      "for example {\"uuid\":\"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0\",\"exit-after\":\"20s\"}"
    let members: [String: Value]
    do {
      members = try JSONDecoder().decode([String: Value].self, from: Data(json))
    } catch {
      throw .invalid(
        "the body is no JSON object of texts, numbers and true or false; write \(example)")
    }
    if members["uuid"] == nil, members.keys.contains(where: Self.circleKeys.contains) {
      self = try Self.circle(name, members)
      return
    }
    guard case .text(let uuid)? = members["uuid"] else {
      throw .invalid("'uuid' is missing or no text; write \(example)")
    }
    var words = [uuid]
    for key in ["major", "minor"] {
      switch members[key] {
      case nil, .null: continue
      case .number(let number):
        guard let number = UInt16(exactly: number) else { fallthrough }
        guard key == "major" || words.count == 2 else {
          throw .invalid("'minor' needs a 'major' to belong to")
        }
        words.append("\(number)")
      default: throw .invalid("'\(key)' must be a whole number from 0 to 65535")
      }
    }
    guard let constraint = BeaconConstraint(words.joined(separator: ":")), !uuid.contains(":")
    else {
      throw .invalid("'\(uuid.prefix(64))' is no UUID; write \(example)")
    }
    var rules: [String] = []
    for (key, value) in members.sorted(by: { $0.key < $1.key })
    where !["uuid", "major", "minor"].contains(key) {
      guard key.utf8.count <= 64, key.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D })
      else { throw .invalid("there is no rule '\(key.prefix(64))'") }
      switch value {
      case .boolean(true): rules.append(key)
      case .boolean(false), .null: break
      case .number(let number):
        rules.append("\(key)=\(Int(exactly: number).map(String.init) ?? String(number))")
      case .text(let text): rules.append("\(key)=\(text)")
      }
    }
    self.init(.beacons(constraint), rules: rules)
  }

  private static func circle(
    _ name: String, _ members: [String: Value]
  ) throws(RegionRefusal) -> RegionRequest {
    var numbers: [Double] = []
    for (index, key) in circleKeys.enumerated() {
      guard case .number(let number)? = members[key], CircularRegion.ranges[index].contains(number)
      else {
        throw .invalid(
          "'\(key)' of a circle must be a number \(CircularRegion.validNumbers[index]); write for example "
            + "{\"latitude\":52.5163,\"longitude\":13.3777,\"radius\":200}")
      }
      numbers.append(number)
    }
    if let other = members.keys.sorted().first(where: { !circleKeys.contains($0) }) {
      throw .invalid("a circle has no '\(other.prefix(64))'; it has latitude, longitude and radius")
    }
    guard let circle = CircularRegion(name: name, numbers) else {
      throw .invalid("the circle cannot be monitored")
    }
    return RegionRequest(.circle(circle))
  }
}
