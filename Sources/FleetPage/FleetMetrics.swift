import FleetPicture
import HTTPServing

enum FleetMetrics {
  static func text(_ hub: FleetHub, _ requests: RequestCounts) -> String {
    var text = MetricsText(prefix: "beaconscan_fleet_")
    let (tally, sites, alarms) = (hub.tally, hub.sites, hub.alarms)
    text.single("pictures_total", "Pictures of sites.", Double(tally.pictures))
    text.single("changes_total", "Changes of rooms.", Double(tally.changes))
    text.single(
      "ignored_total", "Messages that are repeated or cannot be read.", Double(tally.ignored))
    text.single("engine_connected", "1 while it is received.", hub.fault == nil ? 1 : 0)
    text.family(
      "site_beacons", "Beacons of each site.",
      sites.map { ([("site", $0.name)], Double($0.beacons.count)) })
    text.family(
      "site_receivers_missing", "Receivers of each site that do not report.",
      sites.map { ([("site", $0.name)], Double($0.receivers.count(where: \.isMissing))) })
    text.family(
      "alarms", "Alarms by their kind.",
      Alarm.Kind.allCases.map { kind in
        ([("kind", kind.rawValue)], Double(alarms.count { $0.kind == kind }))
      })
    text.add(requests)
    text.addProcess()
    return text.text
  }
}
