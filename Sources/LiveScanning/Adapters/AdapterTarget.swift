package import Advertising
package import Scanning

/// The adapter that serves one requested name, while adapters come and go.
///
/// Without a name, the best adapter is used and found again by its address; while it is away,
/// another one takes its place.
package struct AdapterTarget: Sendable {
  package let name: AdapterName?
  /// The adapter's number on the host; its last one while the adapter is gone.
  package private(set) var index: UInt16?
  package private(set) var address: BluetoothAddress?
  private var former: (name: String, address: BluetoothAddress)?
  private var goneSince: MonotonicTime?

  /// The nanoseconds after which another adapter replaces a missing one, if any may serve.
  private static let patience: Int64 = 5_000_000_000

  package init(_ name: AdapterName?) {
    self.name = name
    switch name {
    case .address(let address): self.address = address
    case .number(let number): index = number
    case nil: break
    }
  }

  package var hostName: String? { index.map { "hci\($0)" } }

  package var title: String { hostName ?? name?.description ?? "the adapter" }

  package func matches(_ adapter: Adapter) -> Bool {
    if case .number(let number) = name { return adapter.index == number }
    if let address, let other = adapter.address { return address == other }
    return adapter.index == index
  }

  package func matches(_ name: AdapterName) -> Bool { name.matches(index, address) }

  package func choose(among adapters: [Adapter], isHeld: (Adapter) -> Bool) -> Adapter? {
    if let former,
      let back = adapters.first(where: { $0.address == former.address && $0.isUp }), !isHeld(back)
    {
      return back
    }
    return name == nil && index == nil
      ? Adapter.best(of: adapters, isHeld: isHeld) : adapters.first(where: matches)
  }

  /// Records the adapter that serves this target; returns whether it or its number has changed.
  package mutating func found(_ adapter: Adapter) -> Bool {
    let before = self
    goneSince = nil
    index = adapter.index
    // A controller has no address for a moment while it is being reset.
    address = adapter.address ?? address
    if former?.address == address { former = nil }
    return index != before.index || before.address != nil && address != before.address
  }

  /// Records that the adapter is gone. After a while it is forgotten, if any other may serve.
  package mutating func lost(at now: MonotonicTime) {
    let gone = goneSince ?? now
    goneSince = gone
    guard name == nil, now.nanoseconds(since: gone) >= Self.patience else { return }
    if former == nil, let hostName, let address { former = (hostName, address) }
    index = nil
    address = nil
  }

  package var replaced: String? { former.map { "\($0.name) (\($0.address))" } }
}
