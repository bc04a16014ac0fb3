import Ranging
package import Records
package import Scanning
package import ServiceCore

/// A named set of beacons.
package struct NamedRegion: Hashable, Sendable {
  package var name: String
  package var constraint: BeaconConstraint
  /// The rules of its own, each an option's name with its value: `exit-after=20s`, `each`.
  package var rules: [String]

  package init(name: String, constraint: BeaconConstraint, rules: [String] = []) {
    (self.name, self.constraint, self.rules) = (name, constraint, rules)
  }

  /// Names a region of a UUID by what it means.
  package init(_ constraint: BeaconConstraint) {
    self.init(name: constraint.description, constraint: constraint)
  }

  /// Reads `NAME=UUID[:MAJOR[:MINOR]][,RULE=VALUE …]`. The rules are not looked at.
  package init?(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard let constraint = BeaconConstraint(String(words[0])) else { return nil }
    self.init(
      name: String(parts[0]), constraint: constraint, rules: words.dropFirst().map(String.init))
  }

  /// The name that a user gave; `nil` for a region of a UUID, which is named by what it means.
  package var givenName: String? { name == constraint.description ? nil : name }

  /// The name and, where that does not show it, the constraint.
  package var title: String { givenName.map { "\($0)  \(constraint)" } ?? name }
}

extension [NamedRegion] {
  /// Returns a ranging report as records: one for each region, or one of all beacons where no region is named.
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
