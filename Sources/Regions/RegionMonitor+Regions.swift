public import Scanning

extension RegionMonitor {
  /// Adds a region; one with the same identifier is replaced, and its state starts anew.
  ///
  /// The first determination of its state is always told. With an assumed state that proves wrong, so is
  /// the crossing.
  ///
  /// - Parameters:
  ///   - region: The region.
  ///   - state: The state it is taken to have, such as before a restart; `nil` for unknown.
  ///   - startLimit: How long to wait for a first beacon, in seconds, such as its last silence limit
  ///     before a restart; `nil` for its rule's.
  /// - Throws: ``RegionError/tooMany(limit:)``.
  public mutating func add(
    _ region: MonitoredRegion, assuming state: RegionState? = nil, startLimit: Double? = nil
  ) throws(RegionError) {
    if index[region.identifier] == nil, regionCount >= configuration.mostRegions {
      throw .tooMany(limit: configuration.mostRegions)
    }
    let usual = region.rules.silence.startLimit(configuration.startLimit)
    let asked = startLimit ?? usual
    _ = index.add(
      region, state: state ?? .unknown,
      startLimit: asked > 0 && asked <= RegionRules.longest ? asked : usual)
    if let now = clock.now {
      start(region.identifier, at: now)
    } else {
      waiting.append(region.identifier)
      // Identifiers may be added, removed and added again before any time is told.
      if waiting.count > 2 * regionCount + 64 { waiting = identifiers }
    }
    tidy()
  }

  /// Removes a region.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: The region; `nil` if there was none.
  @discardableResult
  public mutating func remove(_ identifier: String) -> MonitoredRegion? {
    index.remove(identifier)
  }

  /// A region's state.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: Its state; `nil` if it is not monitored.
  public func state(of identifier: String) -> RegionState? { index[identifier]?.state }

  /// Whether a region's state was determined, not only assumed.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: `false` too if it is not monitored.
  public func isDetermined(_ identifier: String) -> Bool {
    index[identifier]?.isDetermined ?? false
  }

  /// The region with an identifier.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: The region; `nil` if it is not monitored.
  public func region(_ identifier: String) -> MonitoredRegion? { index[identifier]?.region }

  /// Asks for a region's state.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: The answer; `nil` if there is no such region, or if its state is not determined yet: then
  ///   the answer is the determination that is to come.
  public func requestState(of identifier: String) -> RegionTransition? {
    guard let record = index[identifier], record.isDetermined, let latest = clock.latest else {
      return nil
    }
    let (_, reason) = evidence(of: record, rule: .request)
    return RegionTransition(
      change: .determined(record.state), time: MonotonicTime(nanoseconds: latest),
      region: identifier,
      previous: record.state, reason: reason)
  }

  /// What is known of a region.
  ///
  /// It looks at every beacon: it is for display, not for each sighting.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: Its status; `nil` if it is not monitored.
  public func status(of identifier: String) -> RegionStatus? {
    guard let record = index[identifier] else { return nil }
    let (due, reason) = evidence(of: record, rule: .request)
    return RegionStatus(
      state: record.state, isDetermined: record.isDetermined, since: record.since,
      beacons: record.holders, exit: isDeaf ? nil : due.map(clock.moment), evidence: reason)
  }

  /// When the last of a region's beacons is gone, in hearing time, and what is known of that beacon.
  private func evidence(of record: RegionIndex.Record, rule: RegionTransition.Rule)
    -> (due: Int64?, reason: RegionTransition.Reason)
  {
    var found: (due: Int64, beacon: TrackedBeacon, limit: Double)?
    if record.holders > 0 {
      for beacon in beacons where record.region.constraint.matches(beacon.identity) {
        for link in beacon.links where link.isInside && link.serial == record.serial {
          let limit = limit(of: record.region, beacon)
          let due = beacon.deadline(limit)
          if due > found?.due ?? .min { found = (due, beacon, limit) }
        }
      }
    }
    if let found { return (found.due, found.beacon.reason(rule, limit: found.limit)) }
    return (
      nil,
      RegionTransition.Reason(
        rule: rule, lastSighting: nil, samples: 0, silenceLimit: nil, interval: nil, loss: nil)
    )
  }
}

/// What is known of a region at a moment.
public struct RegionStatus: Sendable, Hashable, Codable {
  /// Its state.
  public let state: RegionState
  /// Whether the state was determined, not only assumed.
  public let isDetermined: Bool
  /// When the state became what it is; `nil` if it was only assumed.
  public let since: MonotonicTime?
  /// How many beacons hold it.
  public let beacons: Int
  /// When it is left if nothing more is heard; `nil` if it is not inside, or while the radio is deaf.
  public let exit: MonotonicTime?
  /// The beacon that would leave last, and its limits.
  public let evidence: RegionTransition.Reason
}
