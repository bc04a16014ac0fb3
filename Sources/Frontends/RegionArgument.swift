import Advertising
package import Positioning

/// The value of the option `region`: beacons, or a circle on the earth.
package enum RegionArgument: Hashable, Sendable {
  case beacons(NamedRegion)
  case circle(CircularRegion)

  /// Reads a region of beacons (see ``NamedRegion``), or `NAME=LATITUDE,LONGITUDE,RADIUS`.
  package init?(_ text: String) {
    if let (name, numbers) = Self.numbers(text) {
      guard !name.isEmpty, let circle = CircularRegion(name: name, numbers) else { return nil }
      self = .circle(circle)
    } else {
      guard let region = NamedRegion(text) else { return nil }
      self = .beacons(region)
    }
  }

  package var name: String {
    switch self {
    case .beacons(let region): region.name
    case .circle(let circle): circle.identifier
    }
  }

  package var isCircle: Bool { if case .circle = self { true } else { false } }

  /// Returns the name and the numbers of a text that looks like a circle: more than one number.
  private static func numbers(_ text: String) -> (name: String, numbers: [Double])? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double(String($0)) }
    return words.count > 1 && numbers.count == words.count ? (String(parts[0]), numbers) : nil
  }

  /// Returns the requirement for a region, and the reason that the text is not one.
  package static func requirement(for text: String) -> String {
    if let (_, numbers) = numbers(text) {
      let count = numbers.count == 3 ? "" : "; this has \(numbers.count) numbers"
      return
        "a circle is NAME=LATITUDE,LONGITUDE,RADIUS with a latitude from -90 to 90, a longitude from "
        + "-180 to 180 and a radius of more than 0 and at most "
        + "\(Int(CircularRegion.maximumRadius)) m\(count)"
    }
    let form =
      "write NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, with rules of its own after "
      + "commas, or NAME=LATITUDE,LONGITUDE,RADIUS"
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return form }
    let words = parts[1].prefix { $0 != "," }.split(
      separator: ":", omittingEmptySubsequences: false
    ).map(String.init)
    let uuid = words.first ?? ""
    guard ProximityUUID(uuid) != nil else {
      return "\(form); " + ProximityUUID.requirement(for: uuid)
    }
    guard words.count <= 3, let wrong = words.dropFirst().first(where: { UInt16($0) == nil }) else {
      return form
    }
    return "\(form); a major and a minor are whole numbers from 0 to 65535, not '\(wrong)'"
  }
}

extension [RegionArgument] {
  package var beacons: [NamedRegion] {
    compactMap { if case .beacons(let region) = $0 { region } else { nil } }
  }

  package var circles: [CircularRegion] {
    compactMap { if case .circle(let circle) = $0 { circle } else { nil } }
  }
}

extension CircularRegion {
  /// Creates a circle from a latitude and a longitude in degrees, and a radius in meters.
  package init?(name: String, _ numbers: [Double]) {
    guard numbers.count == 3, let center = Coordinate(latitude: numbers[0], longitude: numbers[1]),
      let circle = try? CircularRegion(identifier: name, center: center, radius: numbers[2])
    else { return nil }
    self = circle
  }
}
