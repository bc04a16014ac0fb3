import CoreLocation
import Testing

@testable import StrangersSwift5

@Suite struct CLLocationTests {
  struct Way: Sendable {
    var from: (Double, Double)
    var to: (Double, Double)
    var metres: Double
    var tolerance: Double
  }

  // Geoscience Australia's test of Vincenty's formula (Flinders Peak to Buninyong); GeographicLib's
  // documented example (JFK to LHR); degrees of the equator and the meridian; the quarter meridian.
  @Test(arguments: [
    Way(
      from: (-37.951033416667, 144.424867888889), to: (-37.652821138889, 143.926495527778),
      metres: 54_972.271, tolerance: 0.002),
    Way(from: (40.6, -73.8), to: (51.6, -0.5), metres: 5_551_759.400, tolerance: 0.002),
    Way(from: (0, 0), to: (0, 1), metres: 111_319.491, tolerance: 0.001),
    Way(from: (0, 0), to: (1, 0), metres: 110_574.389, tolerance: 0.001),
    Way(from: (0, 0), to: (90, 0), metres: 10_001_965.729, tolerance: 0.001),
    Way(from: (0, 179.5), to: (0, -179.5), metres: 111_319.491, tolerance: 0.001),
    Way(from: (90, 0), to: (90, 120), metres: 0, tolerance: 0.001),
    Way(from: (1, 2), to: (1, 2), metres: 0, tolerance: 0),
    // Nearly opposite, and opposite: by GeographicLib.
    Way(from: (0, 0), to: (0.5, 179.5), metres: 19_936_288.579, tolerance: 0.001),
    Way(from: (0, 0), to: (0, 180), metres: 20_003_931.459, tolerance: 0.001),
  ])
  func `distances are those of the ellipsoid`(way: Way) {
    let start = CLLocation(latitude: way.from.0, longitude: way.from.1)
    let end = CLLocation(latitude: way.to.0, longitude: way.to.1)
    #expect(abs(start.distance(from: end) - way.metres) <= way.tolerance)
    #expect(abs(end.distance(from: start) - start.distance(from: end)) < 1e-6)
    #expect(abs(start.coordinate.distance(to: end.coordinate) - way.metres) <= way.tolerance)
  }

  @Test func `a location of a place alone knows nothing else`() {
    let location = CLLocation(latitude: 1, longitude: 2)
    #expect(location.horizontalAccuracy == 0 && location.verticalAccuracy == -1)
    #expect(location.speed == -1 && location.course == -1 && location.altitude == 0)
    #expect(location.floor == nil && location.sourceInformation == nil)
    #expect(abs(location.timestamp.timeIntervalSinceNow) < 60)
    #expect(location.description.hasPrefix("<+1.00000000,+2.00000000> +/- 0.00m (speed -1.00 mps"))
  }

  @Test func `a location survives an archive`() throws {
    let location = CLLocation(
      coordinate: CLLocationCoordinate2D(latitude: -1.5, longitude: 179), altitude: 3,
      horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, courseAccuracy: 7, speed: 8,
      speedAccuracy: 9, timestamp: Date(timeIntervalSinceReferenceDate: 10.5),
      sourceInfo: CLLocationSourceInformation(
        softwareSimulationState: true, andExternalAccessoryState: false))
    let read = try #require(try archived(location))
    #expect(read.description == location.description)
    #expect(read.coordinate == location.coordinate && read.timestamp == location.timestamp)
    let numbers = [
      read.altitude, read.horizontalAccuracy, read.verticalAccuracy, read.course,
      read.courseAccuracy, read.speed, read.speedAccuracy,
    ]
    #expect(numbers == [3, 4, 5, 6, 7, 8, 9])
    #expect(read.sourceInformation?.isSimulatedBySoftware == true)
    #expect(read.sourceInformation?.isProducedByAccessory == false)
    #expect(try archived(CLLocation())?.sourceInformation == nil)
  }

  @Test(arguments: [
    (0.0, 0.0, true), (90, 180, true), (-90, -180, true), (90.1, 0, false), (0, -180.1, false),
    (.nan, 0, false), (0, .infinity, false), (-180, -180, false),
  ])
  func `a coordinate is valid within its limits`(latitude: Double, longitude: Double, valid: Bool) {
    #expect(
      CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(latitude, longitude)) == valid)
  }

  @Test func `a stranger's conformances work`() throws {
    let place = Place(name: "a", coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2))
    let data = try JSONEncoder().encode(place)
    #expect(try JSONDecoder().decode(Place.self, from: data) == place)
    #expect(!place.region.notifyOnExit)
    #expect(places().count == 2)
  }
}
