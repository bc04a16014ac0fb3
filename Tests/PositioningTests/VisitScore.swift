import Positioning
import Scanning

/// What a detector found of the labelled stays of a day.
struct VisitScore {
  var labels = 0
  var found = 0
  var visits = 0
  /// Seconds after the true ones.
  var arrivalErrors: [Double] = []
  var departureErrors: [Double] = []
  /// Meters from the true centers.
  var distances: [Double] = []
  /// The number of visits whose center is within its accuracy.
  var within = 0
  /// The stays that were not found and the visits that are none, for people.
  var faults: [String] = []

  var precision: Double { Double(found) / Double(max(visits, 1)) }
  var recall: Double { Double(found) / Double(max(labels, 1)) }

  /// Adds a day: a stay is found by the one visit that covers half of the time of both.
  mutating func add(_ day: SimulatedDay) {
    let visits = day.visits()
    var left = visits
    self.visits += visits.count
    for label in day.labels where label.departure - label.arrival >= VisitDetector.minimumStay {
      labels += 1
      let match = left.firstIndex { visit in
        let start = visit.arrival?.secondsOfDay ?? 0
        let end = visit.departure?.secondsOfDay ?? label.departure
        let common = min(end, label.departure) - max(start, label.arrival)
        return common > 0.5 * (end - start)
          && common > 0.5 * (label.departure - label.arrival)
      }
      guard let match else {
        faults.append("missed \(label.name) \(label.arrival)–\(label.departure)")
        continue
      }
      found += 1
      let visit = left.remove(at: match)
      if let arrival = visit.arrival { arrivalErrors.append(arrival.secondsOfDay - label.arrival) }
      if let departure = visit.departure {
        departureErrors.append(departure.secondsOfDay - label.departure)
      }
      let center = SimulatedDay.meters(visit.place, from: day.origin)
      let distance = SimulatedDay.length(center - label.place)
      distances.append(distance)
      if distance <= visit.horizontalAccuracy { within += 1 }
    }
    for visit in left {
      let start = visit.arrival?.secondsOfDay ?? 0
      let end = visit.departure?.secondsOfDay ?? .infinity
      let names = (day.labels + day.passages)
        .filter { $0.arrival < end && $0.departure > start }.map(\.name)
      faults.append("false \(start)–\(end) \(names)")
    }
  }

  /// Returns the value below which a share of the values lies.
  static func quantile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[min(Int(share * Double(sorted.count)), sorted.count - 1)]
  }
}

extension MonotonicTime {
  var secondsOfDay: Double { Double(nanoseconds) / 1e9 }
}

extension SimulatedDay {
  /// Returns what a detector finds.
  func visits() -> [Visit] {
    var detector = VisitDetector()
    var visits: [Visit] = []
    for fix in fixes {
      for change in detector.receive(fix) {
        if case .departed(let visit) = change { visits.append(visit) }
      }
    }
    if let visit = detector.visit { visits.append(visit) }
    return visits
  }
}
