import Scanning

extension AdapterSelection {
  /// Returns whether an adapter is among those selected.
  func means(_ adapter: Adapter) -> Bool {
    switch self {
    case .firstUsable, .all: true
    case .these(let names): names.contains { $0.means(adapter) }
    }
  }
}

extension Adapter {
  /// The one of several to listen with: it has Low Energy, is nobody's alone, is on, or can be switched on.
  static func best(of adapters: [Adapter]) -> Adapter? {
    func rank(_ adapter: Adapter) -> Int {
      (adapter.supportsLE ? 8 : 0) + (adapter.isHeld ? 0 : 4) + (adapter.isUp ? 2 : 0)
        + (adapter.block == nil ? 1 : 0)
    }
    // Of equals, the first.
    return adapters.reversed().max { rank($0) < rank($1) }
  }
}

extension AdapterName {
  /// Whether it means an adapter.
  func means(_ adapter: Adapter) -> Bool {
    switch self {
    case .number(let number): adapter.index == number
    case .address(let address): adapter.address == address
    }
  }
}
