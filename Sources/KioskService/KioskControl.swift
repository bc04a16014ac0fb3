package import Scanning

/// What the service asks of the program that it runs in: what can be changed over HTTP, and what is counted.
package protocol KioskControl: Sendable {
  /// Adds or replaces a region. Returns whether it is new.
  func setRegion(_ name: String, _ request: RegionRequest) throws(RegionRefusal) -> Bool
  /// Removes a region.
  func removeRegion(_ name: String) throws(RegionRefusal)
  /// What the source and the core have counted.
  var counts: KioskCounts { get }
}

/// A region as a request describes it.
package struct RegionRequest: Sendable, Equatable {
  package var constraint: BeaconConstraint
  /// Its rules, as options of `monitor` have them: `exit-after=20s`, `each`.
  package var rules: [String]

  package init(constraint: BeaconConstraint, rules: [String]) {
    (self.constraint, self.rules) = (constraint, rules)
  }
}

/// Why a region is not changed.
package enum RegionRefusal: Error, Equatable {
  /// There is none of that name.
  case unknown
  /// The region cannot be changed over HTTP.
  case conflict(String)
  /// The request is wrong.
  case invalid(String)
}

/// What the source and the core have counted since the start.
package struct KioskCounts: Sendable {
  package var scan = ScanCounts()
  package var rangedEvictions = 0
  package var monitoredBeacons = 0
  package var monitoredEvictions = 0
  /// Events of regions by the time from the sighting that decided to their delivery: 1, 3, 10, 30, 100, 300, 1,000
  /// milliseconds, and more.
  package var latencies = LatencyHistogram()
  /// Further lines, as Prometheus has them.
  package var others = ""

  package init() {}
}

/// Durations in classes.
package struct LatencyHistogram: Sendable {
  /// The upper bounds of the classes, in seconds; longer ones have a class of their own.
  package static let bounds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]

  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  private(set) var sum = 0.0

  package init() {}

  package mutating func add(_ seconds: Double) {
    let place = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    counts[place] += 1
    sum += max(0, seconds)
  }
}
