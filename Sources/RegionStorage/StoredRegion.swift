public import Regions
public import Scanning

/// A region as it is kept: what is monitored, for whom, and what was last known.
public struct StoredRegion: Sendable, Hashable {
  /// Which region of whom: one that is put with the same key replaces it.
  public struct Key: Sendable, Hashable {
    /// Whose region: empty for the manager, else a monitor's name.
    public var owner: String
    /// Which of the owner's regions.
    public var identifier: String

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - owner: Whose region.
    ///   - identifier: Which of the owner's regions.
    public init(owner: String = "", identifier: String) {
      (self.owner, self.identifier) = (owner, identifier)
    }
  }

  /// Whose region: empty for the manager, else a monitor's name.
  public var owner: String
  /// Identifier, beacons and rules.
  public var region: MonitoredRegion
  /// Whether entering is told.
  public var notifyOnEntry = true
  /// Whether leaving is told.
  public var notifyOnExit = true
  /// Whether the state is told when the display lights up.
  public var notifyEntryStateOnDisplay = false
  /// Its last state.
  public var state = RegionState.unknown
  /// Since when it has that state; `nil` if that is not known.
  public var since: MonotonicTime?
  /// Its last silence limit, in seconds: for how long to wait for a beacon after a restart. `nil` if it
  /// had none; only a finite number is kept.
  public var silenceLimit: Double?

  /// Makes a region of which no state is known, and of which both crossings are told.
  ///
  /// - Parameters:
  ///   - region: Identifier, beacons and rules.
  ///   - owner: Whose region: empty for the manager.
  public init(_ region: MonitoredRegion, owner: String = "") {
    (self.region, self.owner) = (region, owner)
  }

  /// Which region of whom.
  public var key: Key { Key(owner: owner, identifier: region.identifier) }
}

extension StoredRegion.Key: Comparable {
  /// Orders by owner, then identifier.
  public static func < (left: Self, right: Self) -> Bool {
    (left.owner, left.identifier) < (right.owner, right.identifier)
  }
}
