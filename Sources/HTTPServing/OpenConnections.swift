import NIOCore
import Synchronization

/// The open connections. At the limit, a new one closes the one that has waited longest for its
/// client, so that idle clients do not keep others out. If the server is working for all of them,
/// it accepts none until one waits.
final class OpenConnections: Sendable {
  private struct State {
    /// The time since which each connection waits for its client, or `nil` while the server works.
    var open: [ObjectIdentifier: (channel: any Channel, waitingSince: NIODeadline?)] = [:]
    var waiting = 0
    var listeners: [any Channel] = []
    var isAccepting = true

    mutating func set(_ key: ObjectIdentifier, to entry: (any Channel, NIODeadline?)?) {
      if open[key]?.waitingSince != nil { waiting -= 1 }
      open[key] = entry
      if entry?.1 != nil { waiting += 1 }
    }
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// Adds a listener, which stops accepting while there is no room.
  func add(_ listener: any Channel) {
    let isAccepting = state.withLock { state in
      state.listeners.append(listener)
      return state.isAccepting
    }
    if !isAccepting { _ = listener.setOption(.autoRead, value: false) }
  }

  func opened(_ channel: any Channel) {
    let key = ObjectIdentifier(channel)
    channel.closeFuture.whenComplete { _ in self.change { $0.set(key, to: nil) } }
    let longest = state.withLock { state -> (any Channel)? in
      state.set(key, to: (channel, .now()))
      guard state.open.count > limit else { return nil }
      let waiting = state.open.values.compactMap { entry in
        entry.waitingSince.map { (channel: entry.channel, since: $0) }
      }
      return waiting.min { $0.since < $1.since }?.channel
    }
    longest?.close(promise: nil)
  }

  func update(_ channel: any Channel, waitingSince time: NIODeadline?) {
    let key = ObjectIdentifier(channel)
    change { if $0.open[key] != nil { $0.set(key, to: (channel, time)) } }
  }

  private func change(_ body: (inout State) -> Void) {
    let change = state.withLock { state -> (isAccepting: Bool, listeners: [any Channel])? in
      body(&state)
      let hasRoom = state.open.count < limit || state.waiting > 0
      guard hasRoom != state.isAccepting else { return nil }
      state.isAccepting = hasRoom
      return (hasRoom, state.listeners)
    }
    guard let change else { return }
    for listener in change.listeners {
      _ = listener.setOption(.autoRead, value: change.isAccepting)
    }
  }
}
