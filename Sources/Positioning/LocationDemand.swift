internal import RealModule

/// The accuracy that a client desires, finest first.
package enum AccuracyClass: Int, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case bestForNavigation
  case best
  case tenMeters
  case hundredMeters
  case kilometer
  case threeKilometers

  /// Creates the class that gives at least an accuracy in meters; −1 is the best, −2 that for navigation, as in Core
  /// Location.
  package init(desiredAccuracy meters: Double) {
    self =
      switch meters {
      case ...(-2): .bestForNavigation
      case 3000...: .threeKilometers
      case 1000...: .kilometer
      case 100...: .hundredMeters
      case 10...: .tenMeters
      default: .best
      }
  }

  /// The accuracy radius that is good enough for one fix, in meters.
  package var meters: Double {
    switch self {
    case .bestForNavigation, .best: 5
    case .tenMeters: 10
    case .hundredMeters: 100
    case .kilometer: 1000
    case .threeKilometers: 3000
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The demand of a client of a location or heading service, as far as the sources are concerned.
package enum LocationRequest: Hashable, Sendable {
  /// Updates, with the least movement between them in meters (`nil` for each fix) and the least time in seconds.
  case standard(AccuracyClass, distanceFilter: Double?, interval: Double = 0)
  /// Standard updates that are paused.
  case paused
  case significantChange
  /// Visits; `isStaying` while the receiver is at a place.
  case visits(isStaying: Bool)
  /// Circles of which the nearest boundary is so many meters away, less the fix's accuracy.
  case boundary(meters: Double)
  case heading
}

/// How hard the sources must work for all clients together.
package struct LocationDemand: Hashable, Sendable, Codable {
  /// The demand for fixes.
  package struct Fixes: Hashable, Sendable, Codable {
    /// The accuracy radius that is good enough, in meters; 0 for the best that there is.
    package var accuracy: Double
    /// The time from one fix to the next, in seconds: the source need not deliver more often.
    package var interval: Double
    /// The movement that the source need not report, in meters; 0 where each fix counts.
    package var distance: Double
    /// The number of requests for one fix so far: a source that delivers only changes delivers a fix when it changes.
    package var requests: UInt64 = 0

    package init(accuracy: Double, interval: Double, distance: Double) {
      self.accuracy = accuracy
      self.interval = interval
      self.distance = distance
    }
  }

  /// `nil` while no fix is needed: the sources of fixes are off.
  package var fixes: Fixes?
  /// Whether the compass is on.
  package var needsHeading: Bool

  package init(fixes: Fixes? = nil, needsHeading: Bool = false) {
    self.fixes = fixes
    self.needsHeading = needsHeading
  }

  /// The speed in meters per second up to which a movement is found in time: 70, a fast car or a train.
  package static let topSpeed = 70.0
  /// The longest interval while someone waits for a distance, in seconds: 300.
  package static let longestInterval = 300.0

  /// Creates the demand of one request.
  ///
  /// - A distance filter lengthens the interval to the time in which ``topSpeed`` covers it, up to 60 s.
  /// - A boundary d meters away is looked at again after d / ``topSpeed``, from 1 s to ``longestInterval``, because
  ///   the receiver cannot be there earlier unless it is faster; an accuracy of d / 2 suffices, from 10 m to 1,000 m.
  package init(_ request: LocationRequest) {
    self.init()
    switch request {
    case .standard(let accuracy, let filter, let least):
      let distance = filter.map { $0 > 0 ? $0 : 0 } ?? 0
      let (meters, interval) = Self.standard(accuracy)
      fixes = Fixes(
        accuracy: meters, interval: max(interval, min(distance / Self.topSpeed, 60), least),
        distance: distance)
    case .paused: fixes = Fixes(accuracy: 100, interval: 60, distance: 0)
    case .significantChange: fixes = Fixes(accuracy: 100, interval: 60, distance: 100)
    case .visits(let isStaying):
      fixes = Fixes(accuracy: 100, interval: isStaying ? 60 : 30, distance: 0)
    case .boundary(let meters):
      let meters = max(meters, 0)
      fixes = Fixes(
        accuracy: min(max(meters / 2, 10), 1000),
        interval: min(max(meters / Self.topSpeed, 1), Self.longestInterval), distance: 0)
    case .heading: needsHeading = true
    }
  }

  /// Creates the demand of all requests together: the strictest of each.
  package init(_ requests: some Sequence<LocationRequest>) {
    self.init()
    for request in requests { merge(LocationDemand(request)) }
  }

  /// Adds the demand of another client: the finest accuracy, the shortest interval and the smallest distance.
  package mutating func merge(_ other: LocationDemand) {
    needsHeading = needsHeading || other.needsHeading
    guard let theirs = other.fixes else { return }
    guard let own = fixes else { return fixes = theirs }
    fixes = Fixes(
      accuracy: min(own.accuracy, theirs.accuracy), interval: min(own.interval, theirs.interval),
      distance: min(own.distance, theirs.distance))
    fixes?.requests = max(own.requests, theirs.requests)
  }

  /// The accuracy radius in meters and the interval in seconds of an accuracy class.
  private static func standard(_ accuracy: AccuracyClass) -> (meters: Double, interval: Double) {
    switch accuracy {
    // Navigation takes each fix that a receiver of 10 Hz has.
    case .bestForNavigation: (0, 0.1)
    case .best: (0, 1)
    case .tenMeters: (10, 1)
    case .hundredMeters: (100, 10)
    case .kilometer: (1000, 60)
    case .threeKilometers: (3000, 180)
    }
  }
}
