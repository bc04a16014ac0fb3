public import Advertising
public import Scanning

extension RegionMonitor {
  /// Adds a region, or replaces one with the same identifier.
  ///
  /// The first determination of its state is always reported. If the state was assumed and proves
  /// wrong, the crossing is reported, too.
  ///
  /// - Parameters:
  /// - region: The region.
  /// - state: The assumed state, such as that before a restart; `nil` for unknown.
  /// - timeout: The wait for a first beacon until the region is outside, in seconds. If `nil` or
  ///   not from 0 to a week, it is the fixed exit timeout, or else ``Configuration/initialTimeout``
  ///   for an unknown state and ``Configuration/confirmationTimeout`` for an assumed one.
  /// - beacons: The beacons that are assumed to be inside, each with its own timeout, if the rules
  ///   report each beacon. Without any, a beacon received during the timeout does not enter but is
  ///   determined to be inside.
  /// - Throws: ``RegionError/tooMany(limit:)``.
  public mutating func add(
    _ region: MonitoredRegion, assuming state: RegionState? = nil, timeout: Double? = nil,
    beacons: [BeaconIdentity: Double] = [:]
  ) throws(RegionError) {
    if index[region.identifier] == nil, regionCount >= configuration.maximumRegions {
      throw .tooMany(limit: configuration.maximumRegions)
    }
    let usual = usualTimeout(region.rules, assuming: state ?? .unknown)
    func valid(_ timeout: Double) -> Double {
      timeout > 0 && timeout <= RegionRules.longest ? timeout : usual
    }
    var expected: [BeaconIdentity: Int64] = [:]
    if region.rules.reportsEachBeacon, state == .inside {
      for (beacon, timeout) in beacons where region.constraint.matches(beacon) {
        guard expected.count < RegionRules.maximumBeaconsInside else { break }
        expected[beacon] = ReceptionClock.nanoseconds(valid(timeout))
      }
    }
    index.add(
      region, state: state ?? .unknown, timeout: valid(timeout ?? usual),
      isFirstLook: (state ?? .unknown) == .unknown && timeout == nil, expecting: expected)
    if let now = clock.now {
      start(region.identifier, at: now)
    } else {
      waiting.append(region.identifier)
      // Identifiers may be added, removed and added again before the first moment.
      if waiting.count > 2 * regionCount + 64 { waiting = identifiers }
    }
    tidy()
  }

  /// Removes a region, and returns it, if it was monitored.
  @discardableResult
  public mutating func remove(_ identifier: String) -> MonitoredRegion? { index.remove(identifier) }

  /// Returns a region's state; `nil` if it is not monitored.
  public func state(of identifier: String) -> RegionState? { index[identifier]?.state }

  package func isDetermined(_ identifier: String) -> Bool {
    index[identifier]?.isDetermined ?? false
  }

  package func region(_ identifier: String) -> MonitoredRegion? { index[identifier]?.region }

  /// Returns the status of a region; `nil` if it is not monitored. For display: it checks every
  /// beacon.
  public func status(of identifier: String) -> RegionStatus? {
    guard let record = index[identifier] else { return nil }
    let last = lastBeacon(of: record)
    return RegionStatus(
      state: record.state, isDetermined: record.isDetermined, since: record.since,
      beacons: record.beaconsInside,
      exit: isReceptionLost ? nil : last.map { clock.moment($0.due) },
      evidence: last.map { reason($0.beacon, .request, exitTimeout: $0.timeout) }
        ?? RegionTransition.Reason(.request))
  }

  /// Returns the beacon that will leave a region last, with its exit and its exit timeout in
  /// seconds.
  private func lastBeacon(of record: RegionIndex.Record)
    -> (due: Int64, beacon: TrackedBeacon, timeout: Double)?
  {
    guard record.holders > 0 else { return nil }
    var last: (due: Int64, beacon: TrackedBeacon, timeout: Double)?
    forEachBeacon(of: record.region.constraint) { beacon in
      for link in beacon.links where link.isInside && link.serial == record.serial {
        let timeout = exitTimeout(of: beacon, in: record.region)
        let due = beacon.deadline(timeout)
        if due > last?.due ?? .min { last = (due, beacon, timeout) }
      }
    }
    return last
  }
}

/// The status of a region at a moment.
public struct RegionStatus: Sendable, Hashable, Codable {
  /// The state.
  public let state: RegionState
  /// Whether the state was determined, not only assumed.
  public let isDetermined: Bool
  /// The moment of the last change of state; `nil` if it is only assumed.
  public let since: MonotonicTime?
  /// The number of beacons inside by the region's rules.
  public let beacons: Int
  /// The moment of the exit without further sightings; `nil` unless inside and receiving.
  public let exit: MonotonicTime?
  /// The beacon that would leave last, and its exit timeout.
  public let evidence: RegionTransition.Reason
}
