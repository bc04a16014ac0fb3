package import Sources

/// A source of fixes and compass readings: a daemon, a fixed position, or a recording.
package protocol LocationSource: Source
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth {
  /// Whether the source has a compass. By default it has none.
  var hasCompass: Bool { get }
}

extension LocationSource {
  package var hasCompass: Bool { false }
}

/// How far a location source has come.
package typealias LocationProgress = SourceProgress<LocationHealth>
