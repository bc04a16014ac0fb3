package import LocationSources
package import Positioning

package struct LocationSettings: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case auto, gpsd, geoclue, fixed
  }

  package var source: Kind?
  /// The option `gpsd`; `nil` for gpsd's own port.
  package var gpsd: GPSDAddress?
  package var position: PositionArgument?

  package init() {}

  package var kind: Kind { source ?? .auto }
  package var isGiven: Bool { source != nil || gpsd != nil || position != nil }

  /// Returns the reason that the options do not fit together, or `nil`. A mark such as `--`
  /// precedes their names. An unused option is a fault only if `isGiven` returns `true` for it.
  package func fault(mark: String = "", where isGiven: (String) -> Bool = { _ in true }) -> String?
  {
    if kind == .fixed, position == nil {
      return "\(mark)source fixed needs a \(mark)position LATITUDE,LONGITUDE"
    }
    if let position, kind == .gpsd || kind == .geoclue, isGiven("position") {
      return
        "\(mark)position \(position) is not used with \(mark)source \(kind.rawValue); leave one "
        + "of them out"
    }
    if gpsd != nil, kind == .geoclue || kind == .fixed, isGiven("gpsd") {
      return "\(mark)gpsd is not used with \(mark)source \(kind.rawValue); leave one of them out"
    }
    return nil
  }

  /// Returns the name of an option that tracks do not have, if `isGiven` returns `true` for it.
  package func liveOption(where isGiven: (String) -> Bool = { _ in true }) -> String? {
    if kind != .auto, isGiven("source") { return "source" }
    if gpsd != nil, isGiven("gpsd") { return "gpsd" }
    return position != nil && isGiven("position") ? "position" : nil
  }

  package func makeSource() -> any LocationSource {
    CombinedSource(fixes: makeFixSource(), compass: CompassSource())
  }

  package func makeFixSource() -> any LocationSource {
    let gpsd = GPSDSource(gpsd ?? .local)
    let fixed = position.map { FixedSource($0.place, altitude: $0.altitude) }
    return switch (kind, fixed) {
    case (.gpsd, _): gpsd
    case (.geoclue, _): GeoClueSource()
    case (.fixed, let fixed?): fixed
    case (_, let fixed): AutomaticSource([gpsd, GeoClueSource()] + (fixed.map { [$0] } ?? []))
    }
  }
}

package struct PositionArgument: Hashable, Sendable, CustomStringConvertible {
  package let place: Coordinate
  /// The altitude in meters above sea level; `nil` if it is not given.
  package let altitude: Double?
  package let description: String

  private static let altitudes = -11_000.0...100_000

  /// Reads `LATITUDE,LONGITUDE` or `LATITUDE,LONGITUDE,ALTITUDE`.
  package init?(_ text: String) {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double(String($0)) }
    guard numbers.count == words.count, (2...3).contains(numbers.count), abs(numbers[1]) <= 180,
      let place = Coordinate(latitude: numbers[0], longitude: numbers[1])
    else { return nil }
    self.place = place
    altitude = numbers.count == 3 ? numbers[2] : nil
    guard altitude.map(Self.altitudes.contains) != false else { return nil }
    description = text
  }
}
