public import Regions
public import Scanning

/// A region's new state, and what is to be told of it.
public struct StoredChange: Sendable, Hashable {
  /// Which region of whom.
  public var key: StoredRegion.Key
  /// Its state from now on.
  public var state: RegionState
  /// When that was.
  public var time: MonotonicTime
  /// Its silence limit, in seconds; `nil` if it has none.
  public var silenceLimit: Double?
  /// What is to be told; `nil` for nothing.
  public var event: RegionTransition?

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - key: Which region of whom.
  ///   - state: Its state from now on.
  ///   - time: When that was.
  ///   - silenceLimit: Its silence limit, in seconds.
  ///   - event: What is to be told; `nil` for nothing.
  public init(
    _ key: StoredRegion.Key, state: RegionState, at time: MonotonicTime,
    silenceLimit: Double? = nil,
    event: RegionTransition? = nil
  ) {
    (self.key, self.state, self.time) = (key, state, time)
    (self.silenceLimit, self.event) = (silenceLimit, event)
  }
}

/// Something that the app is to be told, until ``RegionStore/delivered(_:)`` is called.
public struct StoredEvent: Sendable, Hashable {
  /// Its number: each event has a greater one than those before it, over restarts too.
  public let serial: UInt64
  /// Which region of whom.
  public let key: StoredRegion.Key
  /// What happened.
  public let transition: RegionTransition
}
