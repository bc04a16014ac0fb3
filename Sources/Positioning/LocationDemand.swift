/// The accuracy that a client requests, finest first.
package enum AccuracyClass: Int, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case bestForNavigation
  case best
  case tenMeters
  case hundredMeters
  case kilometer
  case threeKilometers

  /// Creates the class for an accuracy in meters; −1 is the best and −2 that for navigation.
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

  /// The accuracy radius that suffices for one fix, in meters.
  package var meters: Double { [5, 5, 10, 100, 1000, 3000][rawValue] }

  /// The interval of fixes, in seconds. Navigation takes each fix of a 10 Hz receiver.
  fileprivate var interval: Double { [0.1, 1, 1, 10, 60, 180][rawValue] }

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The request of one client of a location or heading service.
package enum LocationRequest: Hashable, Sendable {
  /// Updates, with a least movement in meters (`nil` for each fix) and a least interval in seconds.
  case standard(AccuracyClass, distanceFilter: Double?, interval: Double = 0)
  case paused
  case significantChange
  case visits(isStaying: Bool)
  /// Circles, by the distance to the nearest boundary in meters, less the fix's accuracy.
  case boundary(meters: Double)
  case heading
}

/// The demand of all clients together on the sources.
package struct LocationDemand: Hashable, Sendable, Codable {
  package struct Fixes: Hashable, Sendable, Codable {
    /// The accuracy radius that suffices, in meters; 0 for the best available.
    package var accuracy: Double
    /// The least interval of fixes, in seconds, that the clients need.
    package var interval: Double
    /// The movement that the source need not report, in meters; 0 if each fix counts.
    package var distance: Double
    /// The number of requests for a single fix. Each makes a source of movements deliver one.
    package var requests: UInt64 = 0

    package init(accuracy: Double, interval: Double, distance: Double) {
      self.accuracy = accuracy
      self.interval = interval
      self.distance = distance
    }
  }

  /// The demand for fixes; `nil` turns their sources off.
  package var fixes: Fixes?
  package var needsHeading: Bool

  package init(fixes: Fixes? = nil, needsHeading: Bool = false) {
    self.fixes = fixes
    self.needsHeading = needsHeading
  }

  /// The speed up to which movements are found in time, in m/s: that of a fast car or train.
  package static let topSpeed = 70.0
  /// The longest interval of a request for a distance, in seconds.
  package static let longestInterval = 300.0

  /// Creates the demand of one request. A distance filter lengthens the interval to the time of
  /// ``topSpeed`` for it, up to 60 s, and a boundary to that for its distance, whose half is an
  /// accuracy that suffices.
  package init(_ request: LocationRequest) {
    self.init()
    switch request {
    case .standard(let accuracy, let filter, let least):
      let distance = filter.map { $0 > 0 ? $0 : 0 } ?? 0
      fixes = Fixes(
        accuracy: accuracy <= .best ? 0 : accuracy.meters,
        interval: max(accuracy.interval, min(distance / Self.topSpeed, 60), least),
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

  package init(_ requests: some Sequence<LocationRequest>) {
    self.init()
    for request in requests { merge(LocationDemand(request)) }
  }

  /// Merges another demand: the finest accuracy, the shortest interval and the least distance.
  package mutating func merge(_ other: LocationDemand) {
    needsHeading = needsHeading || other.needsHeading
    guard let theirs = other.fixes else { return }
    guard let own = fixes else { return fixes = theirs }
    fixes = Fixes(
      accuracy: min(own.accuracy, theirs.accuracy), interval: min(own.interval, theirs.interval),
      distance: min(own.distance, theirs.distance))
    fixes?.requests = max(own.requests, theirs.requests)
  }
}
