/// A latitude or longitude in the WGS 84 frame, in degrees; north and east are positive.
public typealias CLLocationDegrees = Double

/// How exact something is, in metres: the radius that holds it. Negative where it is not valid.
public typealias CLLocationAccuracy = Double

/// A speed in metres per second. Negative where it is not valid.
public typealias CLLocationSpeed = Double

/// How exact a speed is, in metres per second. Negative where it is not valid.
public typealias CLLocationSpeedAccuracy = Double

/// A direction in degrees clockwise from north, from 0 up to 360. Negative where it is not valid.
public typealias CLLocationDirection = Double

/// How exact a direction is, in degrees. Negative where it is not valid.
public typealias CLLocationDirectionAccuracy = Double

/// A distance in metres.
public typealias CLLocationDistance = Double

/// One axis of a magnetic field, in microteslas.
public typealias CLHeadingComponentValue = Double

/// The major value of a beacon: which group it belongs to.
public typealias CLBeaconMajorValue = UInt16

/// The minor value of a beacon: which one of its group it is.
public typealias CLBeaconMinorValue = UInt16

/// For ``CLLocationManager/distanceFilter``: report every movement.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// For ``CLLocationManager/headingFilter``: report every change.
public let kCLHeadingFilterNone: CLLocationDegrees = -1

/// The best accuracy there is, helped by other sensors, for navigation.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2

/// The best accuracy there is.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1

/// An accuracy of ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10

/// An accuracy of a hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

/// An accuracy of a kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000

/// An accuracy of three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000

/// The accuracy that an app gets that may not know the exact place.
///
/// The number means nothing by itself; compare with the constant alone.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = .greatestFiniteMagnitude

/// The largest distance, in metres.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// The largest time interval, in seconds.
public let CLTimeIntervalMax: Double = .greatestFiniteMagnitude
