package import Advertising
package import Scanning

/// The adapter that serves one requested name, while adapters come and go.
///
/// A number means whichever adapter has it now, and an address the adapter that has it, whatever its number.
/// Without a name, the best adapter is used, and found again by its address; where it stays away another one takes its
/// place until it is back.
package struct AdapterTarget: Sendable {
  /// The name that was requested; `nil` for the first adapter that can be used.
  package let name: AdapterName?
  /// The adapter's number on the host; its latest one while the adapter is gone.
  package private(set) var index: UInt16?
  /// The adapter's address, as far as it is known; its latest one while the adapter is gone.
  package private(set) var address: BluetoothAddress?
  /// The adapter that served first and is gone, where any may serve: another one is used in its place.
  private var former: (name: String, address: BluetoothAddress)?

  package init(_ name: AdapterName?) {
    self.name = name
    switch name {
    case .address(let address): self.address = address
    case .number(let number): index = number
    case nil: break
    }
  }

  /// The adapter's name on the host, as far as it is known.
  package var hostName: String? { index.map { "hci\($0)" } }

  /// What a person calls the adapter.
  package var title: String { hostName ?? name?.description ?? "the adapter" }

  /// Returns whether an adapter is the one that serves this target.
  package func matches(_ adapter: Adapter) -> Bool {
    if case .number(let number) = name { return adapter.index == number }
    if let address, let other = adapter.address { return address == other }
    return adapter.index == index
  }

  /// Returns whether a name is one of the adapter that serves this target.
  package func matches(_ name: AdapterName) -> Bool {
    switch name {
    case .number(let number): number == index
    case .address(let address): address == self.address
    }
  }

  /// Chooses the adapter that serves this target; `nil` where there is none.
  package func choose(among adapters: [Adapter], isHeld: (Adapter) -> Bool) -> Adapter? {
    if let former,
      let back = adapters.first(where: { $0.address == former.address && $0.isUp }), !isHeld(back)
    {
      return back
    }
    return name == nil && index == nil
      ? Adapter.best(of: adapters, isHeld: isHeld) : adapters.first(where: matches)
  }

  /// Records that an adapter serves this target, and returns whether it is another one than before, or has another number.
  package mutating func found(_ adapter: Adapter) -> Bool {
    let before = self
    index = adapter.index
    // A controller that is being reset has no address for a moment.
    address = adapter.address ?? address
    if former?.address == address { former = nil }
    return index != before.index || before.address != nil && address != before.address
  }

  /// Forgets the adapter that served this target, where any other may serve it.
  package mutating func forget() {
    guard name == nil else { return }
    if former == nil, let hostName, let address { former = (hostName, address) }
    (index, address) = (nil, nil)
  }

  /// The adapter in whose place another one serves, for a person.
  package var replaced: String? { former.map { "\($0.name) (\($0.address))" } }
}
