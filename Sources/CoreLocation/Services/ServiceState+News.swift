import Advertising
import Foundation
import Ranging
import RegionStorage
import Regions
import Scanning

extension ServiceState {
  /// What is to be told, by whom and where.
  struct Told {
    var news: [ServiceNews] = []
    var calls: [DelegateCall] = []
    /// For each of the news, how many of the calls belong to it and those before.
    var ends: [Int] = []
  }

  /// Takes what the engine has to tell.
  mutating func takeNews(recordingIn store: RegionStore?) -> Told {
    var told = Told()
    guard !engine.news.isEmpty else { return told }
    let news = engine.news
    engine.news.removeAll(keepingCapacity: true)
    var serials = record(news, in: store)[...]
    for item in news {
      switch item {
      case .ranged(let report):
        told.news.append(.ranged(report))
        tell(report, &told)
      case .region(let transition):
        told.news.append(.region(transition))
        let isKept = serials.first?.transition == transition.shifted(by: wallClockShift)
        tell(transition, kept: isKept ? serials.removeFirst() : nil, among: news, &told)
      case .health(let change):
        told.news.append(.health(change))
        told.calls += note(change)
      }
      told.ends.append(told.calls.count)
    }
    return told
  }

  /// Keeps the new states of regions, with what is to be told of them: before anyone is told.
  private func record(_ news: [BeaconEngine.News], in store: RegionStore?) -> [StoredEvent] {
    guard let store else { return [] }
    let changes = news.compactMap { item -> StoredChange? in
      guard case .region(let transition) = item, let key = EngineName.key(of: transition.region)
      else { return nil }
      // The next process has another line of time: what is kept has the wall's.
      let shown = transition.shifted(by: wallClockShift)
      return StoredChange(
        key, state: shown.change.state, at: shown.time, silenceLimit: shown.reason.exitTimeout,
        event: shown)
    }
    do throws(StoreError) {
      return try store.record(changes)
    } catch {
      remark("\(error)")
      return []
    }
  }

  private func tell(_ report: RangingReport, _ told: inout Told) {
    // At a radio time goes on: a delegate that is still busy with the last report is not sent another, so
    // that they do not pile up before a thread that hangs.
    for client in clients.values where isRecorded || !client.reports.areThere {
      let lists = sort(report.beacons, by: client.ranged)
      for (constraint, region) in client.ranged {
        let beacons = lists[constraint] ?? []
        let asked = CLBeaconIdentityConstraint(constraint)
        client.reports.begin()
        told.calls.append(
          call(client) { [reports = client.reports] manager in
            if let region {
              manager.tell(beacons, in: region)
            } else {
              manager.tell(beacons, satisfying: asked)
            }
            reports.end()
          })
      }
    }
  }

  /// The beacons of each constraint, in order: by looking up what could mean a beacon, as there may be as
  /// many constraints as beacons.
  private func sort(
    _ beacons: [RangedBeacon], by constraints: [BeaconConstraint: CLBeaconRegion?]
  ) -> [BeaconConstraint: [CLBeacon]] {
    guard !constraints.isEmpty else { return [:] }
    var lists: [BeaconConstraint: [CLBeacon]] = [:]
    for ranged in beacons {
      let beacon = CLBeacon(ranged, timestamp: date(ranged.lastReceived))
      for constraint in BeaconConstraint.meaning(ranged.beacon) where constraints[constraint] != nil
      {
        lists[constraint, default: []].append(beacon)
      }
    }
    return lists
  }

  private mutating func tell(
    _ transition: RegionTransition, kept: StoredEvent?, among news: [BeaconEngine.News],
    _ told: inout Told
  ) {
    if let region = questions.removeValue(forKey: transition.region) {
      engine.monitor.remove(transition.region)
      told.calls += callAll { $0.tell(.init(transition.change.state), for: region) }
      return
    }
    guard let key = EngineName.key(of: transition.region) else { return }
    guard key.owner.isEmpty else {
      let moment = date(transition.time)
      let isEvent =
        monitors[key.owner]?.tell(transition, key.identifier, moment, kept?.serial) ?? false
      if let kept, !isEvent { acknowledge(kept.serial) }
      return
    }
    guard let region = regions[transition.region] else { return }
    asked[transition.region] = nil
    // A crossing into the same state that comes with it tells the state as well.
    let isDoubled =
      !transition.change.isCrossing
      && news.contains { item in
        guard case .region(let other) = item else { return false }
        return other.region == transition.region && other.change.isCrossing
          && other.change.state == transition.change.state
      }
    if isDoubled {
      if let kept { acknowledge(kept.serial) }
    } else if let calls = calls(telling: transition.change, of: region, kept) {
      told.calls += calls
    } else if let kept {
      keep(undelivered: kept)
    }
  }

  /// Keeps an event until a delegate is there.
  mutating func keep(undelivered event: StoredEvent) {
    if undelivered.count == Self.mostUndelivered { undelivered.removeFirst() }
    undelivered.append(event)
  }

  /// The calls that tell a change of a region. The store is told that it was delivered as soon as the last
  /// delegate has returned, not only after the state is told too: that comes again after a restart.
  ///
  /// - Returns: `nil` where no delegate is there.
  private func calls(
    telling change: RegionTransition.Change, of region: CLBeaconRegion, _ kept: StoredEvent?
  ) -> [DelegateCall]? {
    let states = callAll { $0.tell(CLRegionState(change.state), for: region) }
    guard !states.isEmpty else { return nil }
    var events = change.isCrossing ? callAll { $0.tell(change, of: region) } : states
    if let kept {
      let (acknowledge, putBack) = (acknowledge, putBack)
      let acknowledgement = Acknowledgement(count: events.count) { wasTold in
        if wasTold { acknowledge(kept.serial) } else { putBack(kept) }
      }
      for index in events.indices { events[index].acknowledgement = acknowledgement }
    }
    return change.isCrossing ? events + states : events
  }

  /// What nobody was there to be told, to the managers that are there now.
  mutating func takeUndelivered() -> [DelegateCall] {
    guard clients.values.contains(where: \.hasDelegate) else { return [] }
    let events = undelivered
    undelivered.removeAll()
    return events.flatMap { event -> [DelegateCall] in
      guard let region = regions[event.key.identifier] else { return [] }
      return calls(telling: event.transition.change, of: region, event) ?? []
    }
  }

  /// Answers what was asked and cannot be found out any more, of all regions or of one.
  mutating func giveUpQuestions(of identifier: String? = nil) -> [DelegateCall] {
    var calls: [DelegateCall] = []
    for (name, region) in questions where region.identifier == identifier ?? region.identifier {
      engine.monitor.remove(name)
      questions[name] = nil
      calls += callAll { $0.tell(.unknown, for: region) }
    }
    for (name, region) in asked where name == identifier ?? name {
      asked[name] = nil
      calls += callAll { $0.tell(.unknown, for: region) }
    }
    return calls
  }

  /// Takes the end of the scanner: every service that runs fails.
  mutating func fail(_ error: any Error, remark: String) -> [DelegateCall] {
    failure = error
    end = remark
    isLooping = false
    var calls = giveUpQuestions()
    for client in clients.values {
      for (constraint, region) in client.ranged {
        let asked = CLBeaconIdentityConstraint(constraint)
        calls.append(
          call(client) { manager in
            manager.tellFailure(of: asked, in: region, CLError(.rangingFailure, remark))
          })
      }
      for region in regions.values {
        calls.append(
          call(client) { $0.tellFailure(of: region, CLError(.regionMonitoringFailure, remark)) })
      }
    }
    return calls
  }
}

extension RegionTransition.Change {
  /// The state after it.
  var state: RegionState {
    switch self {
    case .enter: .inside
    case .exit: .outside
    case .determined(let state): state
    }
  }

  var isCrossing: Bool {
    if case .determined = self { false } else { true }
  }
}
