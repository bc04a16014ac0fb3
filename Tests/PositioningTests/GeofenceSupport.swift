import Positioning
import RealModule
import Scanning
import TestSupport

/// Seconds on the line of a test.
func at(_ seconds: Double) -> MonotonicTime {
  MonotonicTime(nanoseconds: Int64((seconds * 1e9).rounded()))
}

/// A plane that touches the ellipsoid: places by their way to the east and north of its origin, in meters. It is
/// wrong by less than a meter over 5 km.
struct Plane {
  var latitude = 52.5
  var longitude = 13.4

  func place(_ point: SIMD2<Double>) -> Coordinate {
    let sine = Double.sin(latitude * .pi / 180)
    let squared = 0.006_694_379_990_14
    let across = 6_378_137 / (1 - squared * sine * sine).squareRoot()
    let along = across * (1 - squared) / (1 - squared * sine * sine)
    let east = point.x / (across * Double.cos(latitude * .pi / 180))
    guard
      let place = Coordinate(
        latitude: latitude + point.y / along * 180 / .pi,
        longitude: longitude + east * 180 / .pi)
    else { fatalError("the plane is not near a pole") }
    return place
  }

  func circle(_ identifier: String, _ center: SIMD2<Double>, radius: Double) throws(GeofenceError)
    -> CircularRegion
  {
    try CircularRegion(identifier: identifier, center: place(center), radius: radius)
  }

  func fix(_ seconds: Double, _ point: SIMD2<Double>, accuracy: Double = 5) -> Fix {
    Fix(
      time: at(seconds), timestamp: WallClockTime(nanoseconds: at(seconds).nanoseconds),
      place: place(point), horizontalAccuracy: accuracy)
  }
}

/// Errors of fixes along both axes, whose correlation falls to 1/e in so many seconds.
struct Jitter {
  var random: SplitMix64
  var deviation: Double
  var correlation: Double
  var error: SIMD2<Double>

  init(seed: UInt64, deviation: Double, correlation: Double) {
    random = SplitMix64(seed: seed)
    (self.deviation, self.correlation) = (deviation, correlation)
    error = deviation * SIMD2(random.normal(), random.normal())
  }

  mutating func next(after seconds: Double) -> SIMD2<Double> {
    let kept = correlation > 0 ? Double.exp(-seconds / correlation) : 0
    let fresh = SIMD2(random.normal(), random.normal())
    error = kept * error + deviation * (1 - kept * kept).squareRoot() * fresh
    return error
  }
}
