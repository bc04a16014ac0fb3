// The geometry that every app has beside the framework's: bearings, midpoints, boxes.
import CoreLocation

extension CLLocationDegrees {
  var radians: Double { return self * .pi / 180 }
}

extension CLLocation {
  /// The initial bearing on the sphere.
  func bearing(to other: CLLocation) -> CLLocationDirection {
    let (a, b) = (coordinate, other.coordinate)
    let delta = (b.longitude - a.longitude).radians
    let y = sin(delta) * cos(b.latitude.radians)
    let x =
      cos(a.latitude.radians) * sin(b.latitude.radians)
      - sin(a.latitude.radians) * cos(b.latitude.radians) * cos(delta)
    return (atan2(y, x) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
  }

  /// Where one is after a way on the sphere.
  func moved(by meters: CLLocationDistance, toward bearing: CLLocationDirection) -> CLLocation {
    let angle = meters / 6_371_008.8
    let latitude = asin(
      sin(coordinate.latitude.radians) * cos(angle)
        + cos(coordinate.latitude.radians) * sin(angle) * cos(bearing.radians))
    let longitude =
      coordinate.longitude.radians
      + atan2(
        sin(bearing.radians) * sin(angle) * cos(coordinate.latitude.radians),
        cos(angle) - sin(coordinate.latitude.radians) * sin(latitude))
    return CLLocation(latitude: latitude * 180 / .pi, longitude: longitude * 180 / .pi)
  }
}

extension Collection where Element == CLLocation {
  var length: CLLocationDistance {
    return zip(self, dropFirst()).reduce(0) { $0 + $1.0.distance(from: $1.1) }
  }

  var climb: CLLocationDistance {
    return zip(self, dropFirst()).reduce(0) { $0 + Swift.max(0, $1.1.altitude - $1.0.altitude) }
  }

  var box: (southWest: CLLocationCoordinate2D, northEast: CLLocationCoordinate2D)? {
    guard let south = map({ $0.coordinate.latitude }).min(),
      let north = map({ $0.coordinate.latitude }).max(),
      let west = map({ $0.coordinate.longitude }).min(),
      let east = map({ $0.coordinate.longitude }).max()
    else { return nil }
    return (
      CLLocationCoordinate2D(latitude: south, longitude: west),
      CLLocationCoordinate2DMake(north, east)
    )
  }
}
