public import Scanning

/// Which adapters listen.
public enum AdapterSelection: Hashable, Sendable {
  /// The first that can be used.
  case firstUsable
  /// Every one that is there or that comes.
  case all
  /// These.
  case these([AdapterName])

  /// Whether an adapter is among them.
  func means(_ adapter: Adapter) -> Bool {
    switch self {
    case .firstUsable, .all: true
    case .these(let names): names.contains { $0.means(adapter) }
    }
  }
}

extension AdapterSelection: CustomStringConvertible {
  /// What a person calls them.
  public var description: String {
    switch self {
    case .firstUsable: "Bluetooth"
    case .all: "all adapters"
    case .these(let names): names.map(\.description).joined(separator: ", ")
    }
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
