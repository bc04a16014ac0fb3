import Advertising
package import Scanning

package struct ScanSummary: Sendable {
  package var counts: ScanCounts
  package var beacons: Int
  package var evictions: Int

  package init(counts: ScanCounts, beacons: Int, evictions: Int) {
    self.counts = counts
    self.beacons = beacons
    self.evictions = evictions
  }

  package static let record = RecordType<ScanSummary>(
    "summary",
    [
      Field("packets", .count) { $0.counts.packets },
      Field("advertisingPackets", .count) { $0.counts.advertisingPackets },
      Field("reports", .count) { $0.counts.reports },
      Field("sightings", .count) { $0.counts.sightings },
      Field("beacons", .count) { $0.beacons },
      Field("evictions", .count) { $0.evictions },
      Field("refused", refused) { $0.counts },
    ])

  private static let refused = RecordType<ScanCounts>(
    nil, Refusal.allCases.map { refusal in Field("\(refusal)", .count) { $0[refusal] } })
}
