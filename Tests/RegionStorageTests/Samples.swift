import Advertising
import RegionStorage
import Regions
import Scanning

let home = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

/// A store that does not wait for the disk.
func unsynced(_ path: String) throws(StoreError) -> RegionStore {
  try RegionStore(path: path, synced: false)
}

/// A region of standard rules.
func region(_ identifier: String, owner: String = "", major: UInt16? = nil) -> StoredRegion {
  StoredRegion(
    MonitoredRegion(
      identifier: identifier, constraint: BeaconConstraint(uuid: home, major: major)), owner: owner)
}

/// What a monitor would say.
func transition(
  _ change: RegionTransition.Change, of region: String = "r", at time: Int64 = 1,
  reason: RegionTransition.Reason? = nil
) -> RegionTransition {
  RegionTransition(
    change, at: MonotonicTime(nanoseconds: time), region: region, previous: .outside,
    reason: reason
      ?? RegionTransition.Reason(
        .sighting, lastSighting: nil, samples: 1, exitTimeout: 12.5, interval: nil, loss: nil))
}

/// A change with its event.
func crossing(
  _ change: RegionTransition.Change = .enter, of region: String = "r", owner: String = "",
  at time: Int64 = 1
) -> StoredChange {
  StoredChange(
    StoredRegion.Key(owner: owner, identifier: region),
    state: change == .exit ? .outside : .inside, at: MonotonicTime(nanoseconds: time),
    silenceLimit: 12.5, event: transition(change, of: region, at: time))
}

/// All that a store has.
struct Whole: Equatable {
  var regions: [StoredRegion]
  var pending: [StoredEvent]
  var authorization: String?

  init(_ store: RegionStore) {
    (regions, pending, authorization) = (store.regions, store.pending, store.authorization)
  }
}
