import Advertising
package import Scanning

extension AdapterSelection {
  package init(_ selections: [AdapterSelection]) {
    let names = selections.flatMap(\.names)
    self = selections.contains(.all) ? .all : names.isEmpty ? .firstUsable : .these(names)
  }

  package var names: [AdapterName] {
    if case .these(let names) = self { names } else { [] }
  }

  package func includes(_ adapter: Adapter) -> Bool {
    switch self {
    case .firstUsable, .all: true
    case .these(let names): names.contains { $0.matches(adapter) }
    }
  }

  /// The names of the first adapters to find, each of them once; `nil` is the first usable adapter.
  var targets: [AdapterName?] {
    switch self {
    case .firstUsable: [nil]
    case .all: []
    case .these(let names): names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
  }

  /// Returns the sentence, without a full stop, that none of a host's adapters is selected.
  package func absence(among adapters: [Adapter]) -> String {
    guard !adapters.isEmpty else { return "there is no Bluetooth adapter; plug one in" }
    let present = adapters.map { adapter in
      adapter.name + (adapter.address.map { " (\($0))" } ?? "")
    }
    return "there is no adapter \(self); there is " + present.joined(separator: ", ")
  }
}

extension Adapter {
  /// Returns the best adapter to scan with, or `nil`: one that has Low Energy, that no program
  /// holds, and that is on or can be switched on.
  package static func best(of adapters: [Adapter], isHeld: (Adapter) -> Bool) -> Adapter? {
    guard adapters.count > 1 else { return adapters.first }
    let ranks = adapters.map { adapter in
      (adapter.supportsLE ? 8 : 0) + (isHeld(adapter) ? 0 : 4) + (adapter.isUp ? 2 : 0)
        + (adapter.block == nil ? 1 : 0)
    }
    return zip(adapters, ranks).max { $0.1 < $1.1 }?.0
  }
}

extension AdapterName {
  package func matches(_ adapter: Adapter) -> Bool { matches(adapter.index, adapter.address) }

  func matches(_ index: UInt16?, _ address: BluetoothAddress?) -> Bool {
    switch self {
    case .number(let number): number == index
    case .address(let own): own == address
    }
  }
}
