import FoundationEssentials
import Frontends
import Positioning
import Records
import Scanning

extension RegionRequest {
  fileprivate enum Value: Decodable {
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

    var text: String? {
      switch self {
      case .text(let text): text
      case .number(let number): Int(exactly: number).map(String.init) ?? String(number)
      case .boolean(let isOn): "\(isOn)"
      case .null: nil
      }
    }
  }

  private static let circleKeys = Inputs.circle.map(\.name)

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
        "the body is not a JSON object of texts, numbers and true or false; write \(example)")
    }
    if let key = members.keys.sorted().first(where: Self.circleKeys.contains) {
      guard members["uuid"] == nil else {
        throw .invalid(
          "'uuid' is of a region of beacons, and '\(key)' is of a circle; leave one of them out")
      }
      self = try Self.circle(name, members)
      return
    }
    guard case .text(let uuid)? = members["uuid"] else {
      throw .invalid("'uuid' is missing or not a text; write \(example)")
    }
    let constraint: BeaconConstraint
    do throws(OptionError) {
      constraint = BeaconConstraint(
        uuid: try Inputs.uuid.value(of: uuid), major: try Inputs.major.number(members["major"]),
        minor: try Inputs.minor.number(members["minor"]))
    } catch {
      throw .invalid("\(error)")
    }
    guard constraint.minor == nil || constraint.major != nil else {
      throw .invalid("'minor' needs a 'major' to belong to")
    }
    var rules: [String] = []
    for (key, value) in members.sorted(by: { $0.key < $1.key })
    where !["uuid", "major", "minor"].contains(key) {
      guard key.utf8.count <= 64, key.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D })
      else { throw .invalid("there is no rule '\(key.prefix(64))'") }
      switch value {
      case .boolean(true): rules.append(key)
      case .boolean(false), .null: break
      case .number, .text: rules.append("\(key)=\(value.text ?? "")")
      }
    }
    self.init(.beacons(constraint), rules: rules)
  }

  private static func circle(
    _ name: String, _ members: [String: Value]
  ) throws(RegionRefusal) -> RegionRequest {
    var numbers: [Double] = []
    for setting in Inputs.circle {
      do throws(OptionError) {
        guard let number = try setting.number(members[setting.name]) else {
          throw setting.missingValue
        }
        numbers.append(number)
      } catch {
        throw .invalid(
          "\(error); for example {\"latitude\":52.5163,\"longitude\":13.3777,\"radius\":200}")
      }
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

extension Setting {
  /// Reads a number, which JSON has without quotes; `nil` if there is none.
  fileprivate func number(_ value: RegionRequest.Value?) throws(OptionError) -> Value? {
    guard let text = value?.text else { return nil }
    if case .number? = value { return try self.value(of: text) }
    throw .wrongValue(
      name, "\"\(text)\"", requirement: "\(requirement(text)), without quotation marks")
  }
}
