public import Advertising

/// Which adapters are meant.
public enum AdapterName: Hashable, Sendable {
  /// The one with this number on the host now: `hci0`.
  case index(UInt16)
  /// The one with this address, whatever its number: names change, addresses stay.
  case address(BluetoothAddress)
  /// All that are there, and all that come.
  case all
}

extension AdapterName: LosslessStringConvertible {
  /// Reads `hci0`, `AA:BB:CC:DD:EE:FF` or `all`.
  public init?(_ description: String) {
    if description == "all" {
      self = .all
    } else if description.hasPrefix("hci"), let index = UInt16(description.dropFirst(3)),
      description == "hci\(index)"
    {
      self = .index(index)
    } else if let address = BluetoothAddress(description) {
      self = .address(address)
    } else {
      return nil
    }
  }

  /// As it is read.
  public var description: String {
    switch self {
    case .index(let index): "hci\(index)"
    case .address(let address): "\(address)"
    case .all: "all"
    }
  }

  /// Whether it means an adapter.
  public func means(_ adapter: Adapter) -> Bool {
    switch self {
    case .index(let index): adapter.index == index
    case .address(let address): adapter.address == address
    case .all: true
    }
  }
}
