// Values that tests make up, as Apple's have no public initialisers: subclasses of each.
import CoreLocation

class FakeBeacon: CLBeacon {
  private let _uuid: UUID
  private let _major: NSNumber
  private let _minor: NSNumber
  var _proximity: CLProximity = .near
  var _rssi = -60

  init(uuid: UUID, major: Int, minor: Int) {
    _uuid = uuid
    _major = NSNumber(value: major)
    _minor = NSNumber(value: minor)
    super.init()
  }

  required init?(coder: NSCoder) {
    fatalError("init(coder:) has not been implemented")
  }

  override var uuid: UUID { return _uuid }
  override var proximityUUID: UUID { return _uuid }
  override var major: NSNumber { return _major }
  override var minor: NSNumber { return _minor }
  override var proximity: CLProximity { return _proximity }
  override var accuracy: CLLocationAccuracy { return 1.5 }
  override var rssi: Int { return _rssi }
  override var timestamp: Date { return Date(timeIntervalSince1970: 0) }
}

class FakeLocation: CLLocation {
  var fakeFloor: CLFloor?
  override var floor: CLFloor? { return fakeFloor }
  override var horizontalAccuracy: CLLocationAccuracy { return 5 }
  override var speed: CLLocationSpeed { 12.5 }
  override func distance(from location: CLLocation) -> CLLocationDistance { return 42 }
}

class FarLocation: CLLocation {
  override init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    super.init(latitude: latitude + 10, longitude: longitude)
  }
  override init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    super.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, timestamp: timestamp)
  }
  required init?(coder aDecoder: NSCoder) { super.init(coder: aDecoder) }
}

class FakeHeading: CLHeading {
  let degrees: CLLocationDirection
  init(degrees: CLLocationDirection) {
    self.degrees = degrees
    super.init()
  }
  required init?(coder aDecoder: NSCoder) { fatalError() }
  override var magneticHeading: CLLocationDirection { degrees }
  override var trueHeading: CLLocationDirection { degrees + 1 }
  override var headingAccuracy: CLLocationDirection { 3 }
  override var x: CLHeadingComponentValue { 1 }
}

class FakeVisit: CLVisit {
  private let myCoordinate: CLLocationCoordinate2D
  private let myArrival: Date
  override var coordinate: CLLocationCoordinate2D { return myCoordinate }
  override var arrivalDate: Date { return myArrival }
  override var departureDate: Date { return Date.distantFuture }
  override var horizontalAccuracy: CLLocationAccuracy { return 30 }

  init(coordinates: CLLocationCoordinate2D, arrivalDate: Date) {
    myCoordinate = coordinates
    myArrival = arrivalDate
    super.init()
  }
  required init?(coder aDecoder: NSCoder) {
    fatalError("init(coder:) has not been implemented")
  }
}

class FakeFloor: CLFloor {
  override var level: Int { 3 }
}

class FakeBeaconRegion: CLBeaconRegion {
  var entered = false
  override init(uuid: UUID, identifier: String) {
    super.init(uuid: uuid, identifier: "fake." + identifier)
  }
  override init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    super.init(uuid: uuid, major: major, minor: minor, identifier: identifier)
  }
  required init?(coder: NSCoder) { super.init(coder: coder) }
  override var notifyOnEntry: Bool {
    get { return true }
    set {}
  }
  override func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    return super.peripheralData(withMeasuredPower: measuredPower ?? -65)
  }
}

class NamedRegion: CLBeaconRegion {
  // Inherits every initialiser.
  var title: String = ""
  override var description: String { return title }
}

class FakeCircle: CLCircularRegion {
  override func contains(_ coordinate: CLLocationCoordinate2D) -> Bool { return true }
  override var radius: CLLocationDistance { return 10 }
}

class FakeRegion: CLRegion {
  override var identifier: String { return "fake" }
}

func makeFakes() -> [AnyObject] {
  return [
    FakeBeacon(uuid: UUID(), major: 1, minor: 2),
    FakeLocation(latitude: 1, longitude: 2), FarLocation(latitude: 1, longitude: 2),
    FakeHeading(degrees: 90),
    FakeVisit(coordinates: CLLocationCoordinate2DMake(1, 2), arrivalDate: Date()),
    FakeBeaconRegion(uuid: UUID(), identifier: "x"),
    NamedRegion(proximityUUID: UUID(), major: 3, identifier: "named"),
    NamedRegion(uuid: UUID(), major: 3, minor: 4, identifier: "named"),
    FakeCircle(center: CLLocationCoordinate2D(), radius: 1, identifier: "c"),
    FakeFloor(), CLBeacon(), CLHeading(), CLVisit(), CLLocation(), FakeRegion(),
  ]
}
