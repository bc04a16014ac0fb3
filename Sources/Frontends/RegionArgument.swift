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

  /// Returns the name and the three numbers of a circle. A region of beacons has no three numbers.
  private static func numbers(_ text: String) -> (name: String, numbers: [Double])? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double(String($0)) }
    return words.count == 3 && numbers.count == 3 ? (String(parts[0]), numbers) : nil
  }

  /// Returns the requirement for a circle; `nil` for a text that does not look like a circle.
  package static func requirement(for text: String) -> String? {
    numbers(text).map { _ in
      "a circle is NAME=LATITUDE,LONGITUDE,RADIUS with a latitude \(CircularRegion.validNumbers[0]), a "
        + "longitude \(CircularRegion.validNumbers[1]) and a radius \(CircularRegion.validNumbers[2])"
    }
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
  /// The valid latitudes and longitudes of centers, in degrees, and radii, in meters.
  package static let ranges: [ClosedRange<Double>] = [
    -90...90, -180...180, .leastNonzeroMagnitude...maximumRadius,
  ]

  package static let validNumbers = [
    "from -90 to 90", "from -180 to 180", "of more than 0 and at most \(Int(maximumRadius)) m",
  ]

  /// Creates a circle from a latitude and a longitude in degrees, and a radius in meters.
  package init?(name: String, _ numbers: [Double]) {
    guard numbers.count == 3, zip(Self.ranges, numbers).allSatisfy({ $0.contains($1) }),
      let center = Coordinate(latitude: numbers[0], longitude: numbers[1]),
      let circle = try? CircularRegion(identifier: name, center: center, radius: numbers[2])
    else { return nil }
    self = circle
  }
}
