import Advertising
import Glibc
import Positioning
import Records
import Regions
import Scanning
import ServiceCore
import SystemPackage

/// The metrics in Prometheus' text format, version 0.0.4.
enum Metrics {
  static func text(_ hub: KioskHub, _ counts: KioskCounts, _ requests: RequestCounts) -> String {
    var text = ""
    func family(
      _ name: String, _ type: String, _ help: String,
      _ samples: [(labels: [(String, String)], value: Double)]
    ) {
      text += "# HELP beaconscan_\(name) \(help)\n# TYPE beaconscan_\(name) \(type)\n"
      for (labels, value) in samples {
        text += line("beaconscan_\(name)", labels, value)
      }
    }
    func single(_ name: String, _ type: String, _ help: String, _ value: Double) {
      family(name, type, help, [([], value)])
    }
    let (scan, tally, health) = (counts.scan, hub.tally, hub.health)
    single("packets_total", "counter", "Packets of any kind.", Double(scan.packets))
    single("reports_total", "counter", "Advertising reports.", Double(scan.reports))
    single("sightings_total", "counter", "iBeacon frames.", Double(scan.sightings))
    family(
      "discarded_total", "counter", "What was discarded, by reason.",
      Refusal.allCases.map { ([("reason", "\($0)")], Double(scan[$0])) })
    single("beacons_ranged", "gauge", "Beacons in the latest report.", Double(tally.ranged))
    single(
      "ranging_reports_total", "counter", "Ranging reports.",
      Double(hub.valueCounts[.range, default: 0]))
    single(
      "beacons_monitored", "gauge", "Beacons of regions that are tracked.",
      Double(counts.monitoredBeacons))
    family(
      "evictions_total", "counter", "Beacons that made room for others.",
      [
        ([("of", "ranging")], Double(counts.rangedEvictions)),
        ([("of", "monitoring")], Double(counts.monitoredEvictions)),
      ])
    family(
      "region_inside", "gauge", "1 where a beacon of the region is inside.",
      hub.regions.map { ([("region", $0.name)], $0.state == .inside ? 1 : 0) })
    let transitions = tally.transitions.sorted { $0.key < $1.key }
    family(
      "transitions_total", "counter", "Entries and exits of regions and their beacons.",
      transitions.flatMap { name, count in
        [
          ([("region", name), ("type", "enter")], Double(count.enters)),
          ([("region", name), ("type", "exit")], Double(count.exits)),
        ]
      })
    if hub.hasLocations {
      single(
        "fixes_total", "counter", "Fixes of location updates.",
        Double(hub.valueCounts[.fix, default: 0]))
      family(
        "location_source_state", "gauge", "1 for the state of each source of locations.",
        health.locationSources.map {
          ([("of", $0.health.subject.rawValue), ("state", $0.health.condition.rawValue)], 1)
        })
      single("visits_total", "counter", "Visits that began or ended.", Double(tally.visits))
    }
    single(
      "receiving", "gauge", "1 where the receiver receives, or rests since nothing needs it.",
      health.isReceiving ? 1 : 0)
    family(
      "receiver_state", "gauge", "1 for the state of each adapter.",
      health.receivers.map {
        ([("adapter", $0.health.adapter ?? "all"), ("state", $0.health.condition.rawValue)], 1)
      })
    single(
      "health_changes_total", "counter", "Changes of a receiver's state.",
      Double(tally.healthChanges))
    text += histogram(hub.latencies)
    for other in counts.others { family(other.name, other.type, other.help, other.samples) }
    single("event_latest", "gauge", "The number of the latest event.", Double(hub.journal.latest))
    single("event_streams", "gauge", "Event streams that are open.", Double(requests.openStreams))
    family(
      "http_responses_total", "counter", "Answers to HTTP requests, by status.",
      requests.byStatus.map { ([("status", "\($0.status)")], Double($0.count)) })
    single("uptime_seconds", "gauge", "Seconds since the start.", health.uptime)
    for (name, type, help, value) in ProcessFigures.current {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(number(value))\n"
    }
    return text
  }

  private static func histogram(_ histogram: LatencyHistogram) -> String {
    let name = "beaconscan_event_latency_seconds"
    var text =
      "# HELP \(name) From the sighting that decided to the event.\n# TYPE \(name) histogram\n"
    var total = 0
    for (index, count) in histogram.counts.enumerated() {
      total += count
      let bound =
        index < LatencyHistogram.bounds.count ? number(LatencyHistogram.bounds[index]) : "+Inf"
      text += line("\(name)_bucket", [("le", bound)], Double(total))
    }
    return text + "\(name)_sum \(number(histogram.sum))\n\(name)_count \(total)\n"
  }

  private static func line(
    _ name: String, _ labels: [(String, String)], _ value: Double
  ) -> String {
    guard !labels.isEmpty else { return "\(name) \(number(value))\n" }
    let list = labels.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
    return "\(name){\(list)} \(number(value))\n"
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// The kernel's counters for this process (proc(5)).
enum ProcessFigures {
  typealias Figure = (name: String, type: String, help: String, value: Double)

  static var current: [Figure] {
    var usage = rusage()
    // The structure outlives the call.
    _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    let pages = read("/proc/self/statm").split(separator: " ").compactMap { Double($0) }
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
    var figures: [Figure] = [
      ("process_cpu_seconds_total", "counter", "User and system CPU time.", cpu)
    ]
    if pages.count > 1 {
      let bytes = pages[1] * Double(sysconf(Int32(_SC_PAGESIZE)))
      figures.append(("process_resident_memory_bytes", "gauge", "Resident memory.", bytes))
    }
    let switches = Double(usage.ru_nvcsw)
    figures.append(
      ("process_context_switches_total", "counter", "Wake-ups of its threads.", switches))
    return figures
  }

  private static func read(_ path: String) -> String {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec])
    else { return "" }
    return
      (try? file.closeAfter {
        var text = [UInt8](repeating: 0, count: 4096)
        let count = try unsafe text.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
        return String(decoding: text.prefix(count), as: UTF8.self)
      }) ?? ""
  }
}
