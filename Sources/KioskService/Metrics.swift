import Advertising
import HTTPServing
import Positioning
import Records
import Regions
import Scanning
import ServiceCore

/// The metrics in Prometheus' text format, version 0.0.4.
enum Metrics {
  static func text(_ hub: KioskHub, _ counts: KioskCounts, _ requests: RequestCounts) -> String {
    var text = MetricsText(prefix: "beaconscan_")
    let (scan, tally, health) = (counts.scan, hub.tally, hub.health)
    text.single("packets_total", "Packets of any kind.", Double(scan.packets))
    text.single("reports_total", "Advertising reports.", Double(scan.reports))
    text.single("sightings_total", "iBeacon frames.", Double(scan.sightings))
    text.family(
      "discarded_total", "What was discarded, by reason.",
      Refusal.allCases.map { ([("reason", "\($0)")], Double(scan[$0])) })
    text.single("beacons_ranged", "Beacons in the latest report.", Double(tally.ranged))
    text.single(
      "ranging_reports_total", "Ranging reports.", Double(hub.valueCounts[.range, default: 0]))
    text.single(
      "beacons_monitored", "Beacons of regions that are tracked.", Double(counts.monitoredBeacons))
    text.family(
      "evictions_total", "Beacons that made room for others.",
      [
        ([("of", "ranging")], Double(counts.rangedEvictions)),
        ([("of", "monitoring")], Double(counts.monitoredEvictions)),
      ])
    text.family(
      "region_inside", "1 where a beacon of the region is inside.",
      hub.regions.map { ([("region", $0.name)], $0.state == .inside ? 1 : 0) })
    let transitions = tally.transitions.sorted { $0.key < $1.key }
    text.family(
      "transitions_total", "Entries and exits of regions and their beacons.",
      transitions.flatMap { name, count in
        [
          ([("region", name), ("type", "enter")], Double(count.enters)),
          ([("region", name), ("type", "exit")], Double(count.exits)),
        ]
      })
    if hub.hasLocations {
      text.single(
        "fixes_total", "Fixes of location updates.", Double(hub.valueCounts[.fix, default: 0]))
      text.family(
        "location_source_state", "1 for the state of each source of locations.",
        health.locationSources.map {
          ([("of", $0.health.subject.rawValue), ("state", $0.health.condition.rawValue)], 1)
        })
      text.single("visits_total", "Visits that began or ended.", Double(tally.visits))
    }
    text.single(
      "receiving", "1 where the receiver receives, or rests since nothing needs it.",
      health.isReceiving ? 1 : 0)
    text.family(
      "receiver_state", "1 for the state of each adapter.",
      health.receivers.map {
        ([("adapter", $0.health.adapter ?? "all"), ("state", $0.health.condition.rawValue)], 1)
      })
    text.single(
      "health_changes_total", "Changes of a receiver's state.", Double(tally.healthChanges))
    add(hub.latencies, to: &text)
    for other in counts.others { text.family(other.name, other.help, other.samples) }
    text.single("event_latest", "The number of the latest event.", Double(hub.journal.latest))
    text.add(requests)
    text.single("uptime_seconds", "Seconds since the start.", health.uptime)
    text.addProcess()
    return text.text
  }

  private static func add(_ histogram: LatencyHistogram, to text: inout MetricsText) {
    let name = "event_latency_seconds"
    text.head(name, "histogram", "From the sighting that decided to the event.")
    var total = 0
    for (index, count) in histogram.counts.enumerated() {
      total += count
      let bound =
        index < LatencyHistogram.bounds.count
        ? MetricsText.number(LatencyHistogram.bounds[index]) : "+Inf"
      text.sample("\(name)_bucket", [("le", bound)], Double(total))
    }
    text.sample("\(name)_sum", [], histogram.sum)
    text.sample("\(name)_count", [], Double(total))
  }
}
