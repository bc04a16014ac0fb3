public import CaptureFiles
import LocationSources
package import Positioning

extension LocationServices {
  /// A source of locations and headings.
  ///
  /// ```swift
  /// configuration.locationSource = try .tracks(["walk.gpx"], speed: .max)
  /// ```
  public struct PositionSource: Sendable {
    /// Makes the source for an application. The source connects to nothing before it is needed.
    let make: @Sendable (_ application: String) -> any LocationSource

    /// Returns the daemons of this system: gpsd, then GeoClue, then, if neither finds a location,
    /// the fallback as the place of a stationary device, with a compass.
    public static func automatic(fallback: CLLocation? = nil) -> PositionSource {
      let fixed = fallback.flatMap(Self.source)
      return PositionSource { application in
        CombinedSource(
          fixes: AutomaticSource(
            [GPSDSource(), GeoClueSource(desktopIdentifier: application)]
              + (fixed.map { [$0] } ?? [])),
          compass: CompassSource())
      }
    }

    /// Returns the place of a stationary device, or the system's daemons if it is not valid.
    public static func fixed(_ location: CLLocation) -> PositionSource {
      Self.source(at: location).map { PositionSource($0) } ?? automatic()
    }

    /// Returns recorded tracks (NMEA 0183, GPX, gpsd's JSON), replayed together by their own time.
    ///
    /// - Throws: An error that describes, in a sentence, the first track that cannot be opened.
    public static func tracks(
      _ paths: [String], speed: ReplayScanner.Speed = .max
    ) throws -> PositionSource {
      PositionSource(try TrackReplay(paths: paths, speed: speed))
    }

    private static func source(at location: CLLocation) -> FixedSource? {
      let coordinate = location.coordinate
      guard CLLocationCoordinate2DIsValid(coordinate),
        let place = Coordinate(latitude: coordinate.latitude, longitude: coordinate.longitude)
      else { return nil }
      return FixedSource(
        place, altitude: location.verticalAccuracy > 0 ? location.altitude : nil,
        accuracy: location.horizontalAccuracy > 0
          ? location.horizontalAccuracy : FixedSource.defaultAccuracy,
        verticalAccuracy: location.verticalAccuracy > 0 ? location.verticalAccuracy : nil)
    }
  }
}

extension LocationServices.PositionSource {
  package init(_ source: any LocationSource) { make = { _ in source } }
}
