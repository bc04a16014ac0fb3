package import Records
package import Scanning

/// The changes of regions that the HTTP server requests.
package protocol KioskControl: Sendable {
  /// Adds or replaces a region. Returns `true` if it is new. The hub has the region then.
  func set(_ name: String, _ request: RegionRequest) async throws(RegionRefusal) -> Bool
  /// Removes a region. The hub no longer has it on return.
  func remove(_ name: String) async throws(RegionRefusal)
  /// Returns how near beacons came to entering a region outside; `nil` if it is inside or unknown.
  func approach(to name: String) -> Approach?
}

package struct RegionRequest: Sendable, Equatable {
  package var subject: RegionRecord.Subject
  /// The rules as options of `monitor`: `exit-after=20s`, `each`. A circle has none.
  package var rules: [String]

  package init(_ subject: RegionRecord.Subject, rules: [String] = []) {
    self.subject = subject
    self.rules = rules
  }
}

package enum RegionRefusal: Error, Equatable {
  case unknown
  case conflict(String)
  case invalid(String)

  package var sentence: String {
    switch self {
    case .unknown: "there is no such region"
    case .conflict(let sentence), .invalid(let sentence): sentence
    }
  }
}

package struct KioskCounts: Sendable {
  package var scan = ScanCounts()
  package var rangedEvictions = 0
  package var monitoredBeacons = 0
  package var monitoredEvictions = 0
  package var others: [MetricFamily] = []

  package init() {}
}

package struct MetricFamily: Sendable {
  package var name: String
  package var help: String
  package var samples: [(labels: [(String, String)], value: Double)]
}

package struct LatencyHistogram: Sendable {
  /// The upper bounds of the buckets, in seconds. Longer durations are in one more bucket.
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
