import BrokerLink
import Scanning
import ServiceCore
import Webhooks

extension ServiceRun {
  var counts: KioskCounts {
    var counts = KioskCounts()
    counts.scan = beacons.scanner?.counts ?? ScanCounts()
    counts.rangedEvictions = beacons.beaconsRanged.evictions
    let monitored = beacons.beaconsMonitored
    counts.monitoredBeacons = monitored.count - monitored.evictions
    counts.monitoredEvictions = monitored.evictions
    if let status = broker?.status { counts.others += Self.families(of: status) }
    if let status = fleet?.status { counts.others += Self.families(of: status) }
    if let statuses = webhooks?.statuses { counts.others += Self.families(of: statuses) }
    return counts
  }

  private static func families(of status: BrokerStatus) -> [MetricFamily] {
    families(
      "mqtt",
      [
        ("connected", "1 while the broker is connected.", status.isConnected ? 1 : 0),
        ("published_total", "Messages that the broker acknowledged.", status.published),
        ("gaps_total", "How often events were gone before they could be published.", status.gaps),
        ("waiting", "Events that wait for the broker.", status.waiting),
        ("reconnects_total", "Connections after the first one.", status.reconnects),
      ])
  }

  private static func families(of status: FleetStatus) -> [MetricFamily] {
    families(
      "fleet",
      [
        ("connected", "1 while the fleet's broker is connected.", status.isConnected ? 1 : 0),
        ("reports_sent_total", "Reports that the broker acknowledged.", status.sent),
        ("reports_waiting", "Reports that wait for the broker.", status.waiting),
        ("reports_dropped_total", "Reports that made room for newer ones.", status.dropped),
      ])
  }

  private static func families(
    _ part: String, _ figures: [(name: String, help: String, value: Int)]
  ) -> [MetricFamily] {
    figures.map { name, help, value in
      MetricFamily(name: "\(part)_\(name)", help: help, samples: [([], Double(value))])
    }
  }

  /// The samples name webhooks by host, since URLs may be secret.
  private static func families(of statuses: [WebhookStatus]) -> [MetricFamily] {
    let figures: [(String, String, any KeyPath<WebhookStatus, Int> & Sendable)] = [
      ("deliveries_total", "Events that were accepted.", \.deliveries),
      ("failures_total", "Attempts that failed.", \.failures),
      ("refused_total", "Events that the webhook does not want.", \.refused),
      ("gaps_total", "How often events were gone before they could be delivered.", \.gaps),
      ("waiting", "Events that wait for the webhook.", \.waiting),
    ]
    return figures.map { name, help, value in
      MetricFamily(
        name: "webhook_\(name)", help: help,
        samples: statuses.enumerated().map { index, status in
          let labels = [("webhook", "\(index + 1)"), ("host", status.place)]
          return (labels, Double(status[keyPath: value]))
        })
    }
  }
}
