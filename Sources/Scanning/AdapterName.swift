public import Advertising

/// A name for an adapter: its number on the host, which can change, or its address, which cannot.
public enum AdapterName: Hashable, Sendable, LosslessStringConvertible, Codable {
  /// The adapter that currently has a number on the host: `hci0` is 0.
  case number(UInt16)
  /// The adapter with an address, whatever its number.
  case address(BluetoothAddress)

  /// Parses `hci0` or `AA:BB:CC:DD:EE:FF`.
  public init?(_ description: String) {
    if let address = BluetoothAddress(description) {
      self = .address(address)
      return
    }
    guard description.hasPrefix("hci"), let number = UInt16(digits: description.dropFirst(3)) else {
      return nil
    }
    self = .number(number)
  }

  /// The name as `hci0`, or the address.
  public var description: String {
    switch self {
    case .number(let number): "hci\(number)"
    case .address(let address): address.description
    }
  }

  /// Decodes the text form.
  public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

/// The adapters that a scanner uses.
public enum AdapterSelection: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The first usable adapter.
  case firstUsable
  /// Every adapter, including those that are plugged in later.
  case all
  /// The adapters with these names.
  case these([AdapterName])

  /// The selection as text for people.
  public var description: String {
    switch self {
    case .firstUsable: "Bluetooth"
    case .all: "all adapters"
    case .these(let names): names.map(\.description).joined(separator: ", ")
    }
  }
}
