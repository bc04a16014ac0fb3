import Positioning
import Testing

@Suite struct CoordinateTests {
  @Test(arguments: [(0.0, 0.0), (180, -180), (-180, -180), (181, -179), (540, -180), (359, -1)])
  func aLongitudeMayBeOfAnyTurn(given: Double, kept: Double) {
    #expect(Coordinate(latitude: 0, longitude: given)?.longitude == kept)
  }

  @Test(arguments: [(90.1, 0.0), (-91, 0), (.nan, 0), (0, .nan), (0, .infinity), (.infinity, 0)])
  func aPlaceIsOnTheEarth(latitude: Double, longitude: Double) {
    #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
  }
}
