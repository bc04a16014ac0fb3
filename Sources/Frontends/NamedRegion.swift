import Ranging
package import Records
package import Scanning
package import ServiceCore

package struct NamedRegion: Hashable, Sendable {
  package var name: String
  package var constraint: BeaconConstraint
  /// The region's own rules, by option and value, such as `exit-after=20s` or `each`.
  package var rules: [String]

  package init(name: String, constraint: BeaconConstraint, rules: [String] = []) {
    self.name = name
    self.constraint = constraint
    self.rules = rules
  }

  package init(_ constraint: BeaconConstraint) {
    self.init(name: constraint.description, constraint: constraint)
  }

  /// Reads `NAME=UUID[:MAJOR[:MINOR]][,RULE=VALUE …]`, without a check of the rules.
  package init?(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard let constraint = BeaconConstraint(String(words[0])) else { return nil }
    self.init(
      name: String(parts[0]), constraint: constraint, rules: words.dropFirst().map(String.init))
  }

  /// The name that a user gave; `nil` for a region that is named by its constraint.
  package var givenName: String? { name == constraint.description ? nil : name }
  package var title: String { givenName.map { "\($0)  \(constraint)" } ?? name }
}

extension [NamedRegion] {
  /// Returns a report as records: one for each region, or one of all beacons without regions.
  package func records(of report: RangingReport) -> [RegionReport] {
    guard !isEmpty else {
      return [RegionReport(time: report.wallClockTime, region: nil, beacons: report.beacons)]
    }
    return map { region in
      RegionReport(
        time: report.wallClockTime, region: region.name,
        beacons: report.beacons.filter { region.constraint.matches($0.beacon) })
    }
  }
}
