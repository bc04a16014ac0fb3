package import Sources

/// A source of fixes and compass readings: a daemon, a fixed position, or a recording.
package protocol LocationSource: Source
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth {
  /// Whether the source is known to have a compass; `false` by default.
  var hasCompass: Bool { get }

  /// Whether the source may have a compass, as a first reading would show.
  var mayHaveCompass: Bool { get }
}

extension LocationSource {
  package var hasCompass: Bool { false }
  package var mayHaveCompass: Bool { hasCompass }
}

package typealias LocationProgress = SourceProgress<LocationHealth>
