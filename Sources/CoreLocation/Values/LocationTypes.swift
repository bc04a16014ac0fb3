/// A latitude or longitude in the WGS 84 frame, in degrees; north and east are positive.
public typealias CLLocationDegrees = Double

/// An accuracy in meters: the radius that contains the true place. Negative if it is not valid.
public typealias CLLocationAccuracy = Double

/// A speed in meters per second. Negative if it is not valid.
public typealias CLLocationSpeed = Double

/// The possible error of a speed, in meters per second. Negative if it is not valid.
public typealias CLLocationSpeedAccuracy = Double

/// A direction in degrees clockwise from north, from 0 up to 360. Negative if it is not valid.
public typealias CLLocationDirection = Double

/// The possible error of a direction, in degrees. Negative if it is not valid.
public typealias CLLocationDirectionAccuracy = Double

/// A distance in meters.
public typealias CLLocationDistance = Double

/// One axis of a magnetic field, in microteslas.
public typealias CLHeadingComponentValue = Double

/// The major value of a beacon: its group.
public typealias CLBeaconMajorValue = UInt16

/// The minor value of a beacon: its number in the group.
public typealias CLBeaconMinorValue = UInt16

/// For ``CLLocationManager/distanceFilter``: report every movement.
public let kCLDistanceFilterNone: CLLocationDistance = -1

/// For ``CLLocationManager/headingFilter``: report every change.
public let kCLHeadingFilterNone: CLLocationDegrees = -1

/// The best accuracy, with the help of other sensors, for navigation.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2

/// The best accuracy.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1

/// An accuracy of ten meters.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10

/// An accuracy of a hundred meters.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100

/// An accuracy of a kilometer.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000

/// An accuracy of three kilometers.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000

/// The accuracy of an app with reduced accuracy, a number to compare with.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = .greatestFiniteMagnitude

/// The largest distance, in meters.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude

/// The largest time interval, in seconds.
public let CLTimeIntervalMax: Double = .greatestFiniteMagnitude
