package import Records
package import Scanning

/// What the service asks of the program that it runs in: what can be changed over HTTP, and what is counted.
package protocol KioskControl: Sendable {
  /// Adds or replaces a region. Returns whether it is new, when the hub has it.
  func setRegion(_ name: String, _ request: RegionRequest) async throws(RegionRefusal) -> Bool
  /// Removes a region. Returns when the hub has it no more.
  func removeRegion(_ name: String) async throws(RegionRefusal)
  /// What the source and the core have counted.
  var counts: KioskCounts { get }
}

/// A region as a request describes it.
package struct RegionRequest: Sendable, Equatable {
  package var subject: RegionRecord.Subject
  /// Its rules, as options of `monitor` have them: `exit-after=20s`, `each`. A circle has none.
  package var rules: [String]

  package init(_ subject: RegionRecord.Subject, rules: [String] = []) {
    self.subject = subject
    self.rules = rules
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

  /// The reason as a sentence.
  package var sentence: String {
    switch self {
    case .unknown: "there is no such region"
    case .conflict(let sentence), .invalid(let sentence): sentence
    }
  }
}

/// What the source and the core have counted since the start.
package struct KioskCounts: Sendable {
  package var scan = ScanCounts()
  package var rangedEvictions = 0
  package var monitoredBeacons = 0
  package var monitoredEvictions = 0
  /// The figures of other parts.
  package var others: [MetricFamily] = []

  package init() {}
}

/// A figure of the service, with a sample for each thing that it is of.
package struct MetricFamily: Sendable {
  package var name: String
  /// `counter` or `gauge`.
  package var type: String
  package var help: String
  package var samples: [(labels: [(String, String)], value: Double)]
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
