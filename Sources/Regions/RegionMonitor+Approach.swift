internal import Scanning

extension RegionMonitor {
  /// Returns how near the beacons of a region came to entering it; `nil` if none was received
  /// outside, or if the region as a whole is inside. For display: it checks every beacon.
  package func approach(to identifier: String) -> RegionApproach? {
    index[identifier].flatMap(approach)
  }

  func approach(to record: RegionIndex.Record) -> RegionApproach? {
    let rules = record.region.rules
    guard record.state != .inside || rules.reportsEachBeacon else { return nil }
    var nearest: (approach: RegionApproach, rank: (UInt8, Double, Int8))?
    forEachBeacon(of: record.region.constraint) { beacon in
      guard
        let link = beacon.links.first(where: { $0.serial == record.serial && !$0.isInside }),
        link.best.sightings > 0
      else { return }
      let approach = approach(of: beacon, link, rules)
      let best = approach.nearest
      let share =
        switch approach.rule {
        case .count: Double(best.count) / Double(rules.count.needed)
        case .dwell: best.dwell / rules.dwell
        default: best.evidence
        }
      let rank = (link.best.reached, share, link.best.rssi)
      if nearest.map({ $0.rank < rank }) ?? true { nearest = (approach, rank) }
    }
    return nearest?.approach
  }

  private func approach(
    of beacon: TrackedBeacon, _ link: Link, _ rules: RegionRules
  ) -> RegionApproach {
    let best = link.best
    let gate = link.gate(of: best.rule)
    let excess = best.rule == .distance ? rules.distance?.excess : rules.signal?.excess
    /// The share of the evidence that opens the gate.
    func share(_ evidence: Float) -> Double {
      guard evidence > 0, let excess, excess > 0 else { return 0 }
      return min(1, Double(evidence / beacon.statistics.excessFactor) / excess)
    }
    let strongest = best.rssi == .min ? nil : best.rssi
    return RegionApproach(
      beacon: beacon.identity, sightings: Int(best.sightings), rule: best.rule,
      nearest: RegionApproach.Values(
        rssi: strongest, distance: distance(of: beacon, at: strongest),
        evidence: share(best.evidence), count: Int(best.count), dwell: Double(best.dwell)),
      latest: RegionApproach.Values(
        rssi: beacon.rssi, distance: distance(of: beacon, at: beacon.rssi),
        evidence: gate.isOpen ? 1 : share(gate.evidence), count: link.count(rules),
        dwell: Double(link.dwell(at: beacon.lastReceived)) * 1e-9))
  }
}
