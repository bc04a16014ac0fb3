import Adapters
import Advertising
import BrokerLink
import Frontends
import KioskService
import Records
import Regions
import Scanning
import ServiceCore
import Synchronization
import Webhooks

/// The regions of the service: those of the configuration, which belong to the command's client, and those that were added
/// over HTTP, which belong to a client of their own, so that each kind outlives the process as what it is.
final class ServedRegions: KioskControl {
  /// The group of the regions that were added over HTTP.
  static let addedGroup = ClientGroup("http")
  /// The regions that can be added over HTTP at most.
  static let maximumAdded = 256

  let beacons: BeaconService
  /// The client of the configuration's regions.
  let configured: ClientIdentifier
  /// The client of the regions that were added.
  let added: ClientIdentifier
  let hub: KioskHub
  private let broker: Broker?
  private let webhooks: WebhookSender?
  /// Whether the beacons of regions are ranged all the time, and not only while somebody wants them: the history has
  /// their presence.
  let rangesAlways: Bool

  private struct State {
    var rules: RuleOptions
    var events: MonitorEvents
    var latencies = LatencyHistogram()
  }

  private let state: Mutex<State>
  /// Held while a region is added or removed.
  private let changes = Mutex(())

  init(
    _ beacons: BeaconService, configured: ClientIdentifier, hub: KioskHub, broker: Broker?,
    webhooks: WebhookSender?, rules: RuleOptions, rangesAlways: Bool
  ) throws {
    (self.beacons, self.configured, self.hub) = (beacons, configured, hub)
    (self.broker, self.webhooks) = (broker, webhooks)
    self.rangesAlways = rangesAlways
    added = beacons.manager.addClient(in: Self.addedGroup, isReceiving: false)
    state = Mutex(State(rules: rules, events: MonitorEvents(rules: try rules.rules)))
    // Those that are stored begin with what is known of them.
    for region in beacons.regions(of: added) {
      guard let known = beacons.snapshot(ofRegion: region.identifier, for: added) else { continue }
      state.withLock { state in
        state.events.begin(
          with: known, insideSince: known.status.state == .inside ? known.since : nil)
      }
    }
  }

  /// Registers the configuration's regions in place of those before.
  func configure(
    _ regions: [NamedRegion], _ rules: RuleOptions,
    removed: (String) -> Void
  ) throws {
    try changes.withLock { _ in
      let new = try regions.map { region in
        BeaconRegion(
          identifier: region.name, constraint: region.constraint,
          rules: region.rules.isEmpty ? nil : try rules.rules(of: region))
      }
      let standard = try rules.rules
      // The configuration comes first.
      for region in new { beacons.unregister(region.identifier, for: added) }
      try state.withLock { state in
        state.rules = rules
        state.events.rules = standard
        do throws(BeaconServiceError) {
          for name in try beacons.replaceRegions(with: new, for: configured, &state.events) {
            removed(name)
          }
        } catch {
          throw CommandError(.unavailable, "\(error)")
        }
        // The states at the start are in the snapshot that every client gets.
        _ = state.events.removeStates(at: .now, .zero)
      }
    }
    report()
  }

  /// Hands an event of a region to the hub.
  func receive(_ event: RegionEvent) {
    if case .enter = event.transition.change, let last = event.transition.reason.lastSighting,
      beacons.scanner?.isRecorded == false
    {
      let seconds = MonotonicTime.now.seconds(since: last.time)
      state.withLock { $0.latencies.add(seconds) }
    }
    let line = state.withLock { $0.events.line(of: event) }
    hub.receive(line)
    broker?.update(region: line)
  }

  /// Reports the regions and their states to the hub.
  func report() {
    var records: [RegionRecord] = []
    for (client, isAdded) in [(configured, false), (added, true)] {
      for region in beacons.regions(of: client) {
        guard let known = beacons.snapshot(ofRegion: region.identifier, for: client) else {
          continue
        }
        records.append(
          RegionRecord(
            name: region.identifier, constraint: region.constraint,
            reportsEachBeacon: (region.rules ?? state.withLock { $0.events.rules })
              .reportsEachBeacon,
            state: known.status.state, since: known.since, beacons: known.status.beacons,
            isRemovable: isAdded))
      }
    }
    hub.setRegions(records)
    broker?.setRegions(
      records.map { BrokerRegion($0.name, state: $0.state, beacons: $0.beacons) })
    guard rangesAlways else { return }
    range(
      Set(
        records.map { RangingRequest($0.constraint) }
          + Settings.current.beacons.map {
            RangingRequest(
              BeaconConstraint(
                uuid: $0.identity.uuid, major: $0.identity.major, minor: $0.identity.minor))
          }))
  }

  private func range(_ wanted: Set<RangingRequest>) {
    let ranged = beacons.rangingRequests(of: configured).filter { $0.constraint != nil }
    for request in ranged.subtracting(wanted) { beacons.stopRanging(request, for: configured) }
    for request in wanted.subtracting(ranged) {
      // Why it cannot be met is in the receiver's state.
      try? beacons.startRanging(request, for: configured)
    }
  }

  /// Returns whether a beacon is in a region.
  func include(_ beacon: BeaconIdentity) -> Bool {
    hub.regions.contains { $0.constraint.matches(beacon) }
  }

  // MARK: KioskControl

  func setRegion(_ name: String, _ request: RegionRequest) throws(RegionRefusal) -> Bool {
    let region: BeaconRegion
    let options = state.withLock { $0.rules }
    do {
      let named = NamedRegion(name: name, constraint: request.constraint, rules: request.rules)
      region = BeaconRegion(
        identifier: name, constraint: request.constraint,
        rules: request.rules.isEmpty ? nil : try options.rules(of: named))
    } catch let error as CommandError {
      throw .invalid(error.message)
    } catch {
      throw .invalid("\(error)")
    }
    let result = changes.withLock { _ -> Result<Bool, RegionRefusal> in
      guard beacons.snapshot(ofRegion: name, for: configured) == nil else {
        return .failure(
          .conflict("'\(name)' is a region of the configuration; choose another name"))
      }
      let stored = beacons.regions(of: added)
      let old = stored.first { $0.identifier == name }
      guard old != nil || stored.count < Self.maximumAdded else {
        return .failure(
          .conflict("\(Self.maximumAdded) regions were added, which is the limit; remove one"))
      }
      var assumed = RegionState.outside
      if old?.constraint == region.constraint,
        let known = beacons.snapshot(ofRegion: name, for: added), known.status.state != .unknown
      {
        assumed = known.status.state
      }
      do throws(BeaconServiceError) {
        try beacons.register(region, assuming: assumed, for: added)
      } catch {
        return .failure(.conflict("\(error)"))
      }
      return .success(old == nil)
    }
    report()
    return try result.get()
  }

  func removeRegion(_ name: String) throws(RegionRefusal) {
    let refusal = changes.withLock { _ -> RegionRefusal? in
      if beacons.snapshot(ofRegion: name, for: configured) != nil {
        return .conflict("'\(name)' is a region of the configuration; remove it there")
      }
      guard beacons.snapshot(ofRegion: name, for: added) != nil else { return .unknown }
      beacons.unregister(name, for: added)
      return nil
    }
    if let refusal { throw refusal }
    report()
  }

  var counts: KioskCounts {
    var counts = KioskCounts()
    counts.scan = beacons.scanner?.counts ?? ScanCounts()
    counts.rangedEvictions = beacons.beaconsRanged.evictions
    let monitored = beacons.beaconsMonitored
    (counts.monitoredBeacons, counts.monitoredEvictions) =
      (monitored.count - monitored.evictions, monitored.evictions)
    counts.latencies = state.withLock { $0.latencies }
    if let status = broker?.status {
      for (name, type, value) in [
        ("connected", "gauge", status.isConnected ? 1 : 0),
        ("published_total", "counter", status.published),
        ("dropped_total", "counter", status.dropped), ("waiting", "gauge", status.waiting),
        ("reconnects_total", "counter", status.reconnects),
      ] {
        counts.others +=
          "# TYPE beaconscan_mqtt_\(name) \(type)\nbeaconscan_mqtt_\(name) \(value)\n"
      }
    }
    counts.others += webhooks.map { Self.figures(of: $0.statuses) } ?? ""
    return counts
  }

  /// What the webhooks counted, as Prometheus has it. URLs may be secrets: their hosts stand for them.
  private static func figures(of statuses: [WebhookStatus]) -> String {
    var text = ""
    for (name, type, values) in [
      ("deliveries_total", "counter", [("", \WebhookStatus.deliveries)]),
      ("failures_total", "counter", [("", \.failures)]),
      (
        "dropped_total", "counter",
        [(",reason=\"full\"", \.dropped), (",reason=\"refused\"", \.refused)]
      ),
      ("waiting", "gauge", [("", \.waiting)]),
    ] {
      text += "# TYPE beaconscan_webhook_\(name) \(type)\n"
      for (index, status) in statuses.enumerated() {
        for (label, value) in values {
          text +=
            "beaconscan_webhook_\(name){webhook=\"\(index + 1)\",host=\"\(status.place)\"\(label)} "
            + "\(status[keyPath: value])\n"
        }
      }
    }
    return text
  }
}
