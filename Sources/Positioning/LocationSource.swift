package import Sources

/// A source of fixes and compass readings: a daemon, a fixed position, or a recording.
package protocol LocationSource: Source
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth {
  /// Whether the source is known to have a compass. By default it has none.
  var hasCompass: Bool { get }

  /// Whether the source may have a compass, which its first reading shows. By default it is known.
  var mayHaveCompass: Bool { get }
}

extension LocationSource {
  package var hasCompass: Bool { false }
  package var mayHaveCompass: Bool { hasCompass }
}

/// How far a location source has come.
package typealias LocationProgress = SourceProgress<LocationHealth>
