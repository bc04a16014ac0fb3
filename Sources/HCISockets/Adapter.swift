public import Advertising
import CBluetooth
import Glibc

/// A Bluetooth adapter of this host.
public struct Adapter: Hashable, Sendable {
  /// Its number on the host; another one after it was unplugged and came back.
  public var index: UInt16
  /// Its address; `nil` as long as the controller has not been asked, or has none.
  public var address: BluetoothAddress?
  /// Whether it is switched on.
  public var isUp: Bool
  /// Whether rfkill has switched it off.
  public var block: RadioBlock?
  /// How it is connected, for example `USB`.
  public var bus: String
  /// LMP features, the first page (Core Specification, Vol 2, Part C, §3.3).
  public var features: [UInt8]

  /// Its name on the host, such as `hci0`.
  public var name: String { "hci\(index)" }

  /// Whether it has Bluetooth Low Energy: LE Supported (Controller), octet 4, bit 6.
  public var supportsLE: Bool { features.count > 4 && features[4] & 0x40 != 0 }

  /// The adapters that are there, by number.
  ///
  /// - Throws: ``HCISocketError`` where the kernel has no Bluetooth.
  public static func all() throws(HCISocketError) -> [Adapter] {
    let socket = try HCISocket.unbound()
    var list = cbluetooth_dev_list()
    list.dev_num = UInt16(HCI_MAX_DEV)
    // The structure outlives the call.
    guard unsafe ioctl(socket.descriptor, UInt(cbluetooth_HCIGETDEVLIST), &list) == 0 else {
      throw HCISocketError("HCIGETDEVLIST")
    }
    let count = min(Int(list.dev_num), Int(HCI_MAX_DEV))
    // The kernel has written that many entries.
    let indexes = unsafe withUnsafeBytes(of: &list.dev_req) { bytes in
      unsafe bytes.bindMemory(to: hci_dev_req.self).prefix(count).map(\.dev_id)
    }
    return indexes.sorted().compactMap { Adapter(index: $0) }
  }

  /// The adapter with a number; `nil` where there is none.
  public init?(index: UInt16) {
    var info = hci_dev_info()
    // The structure outlives the call.
    guard unsafe hci_devinfo(Int32(index), &info) == 0 else { return nil }
    self.index = index
    let octets = info.bdaddr.b
    let address = BluetoothAddress(
      rawValue: [octets.5, octets.4, octets.3, octets.2, octets.1, octets.0].reduce(0) {
        $0 << 8 | UInt64($1)
      })
    self.address = address.rawValue == 0 ? nil : address
    isUp = info.flags & 1 << UInt32(HCI_UP) != 0
    block = RadioBlock(adapter: index)
    // The library's text is constant.
    bus = unsafe hci_bustostr(Int32(info.type & 0x0F)).map { unsafe String(cString: $0) } ?? "?"
    let bytes = info.features
    features = [
      bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7,
    ]
  }

  /// Switches an adapter on, which can take seconds.
  ///
  /// - Throws: ``HCISocketError``: `EPERM` without `CAP_NET_ADMIN`, `ERFKILL` where rfkill has switched it
  ///   off, `ETIMEDOUT` where the controller does not answer.
  static func switchOn(_ index: UInt16) throws(HCISocketError) {
    let socket = try HCISocket.unbound()
    guard ioctl(socket.descriptor, UInt(cbluetooth_HCIDEVUP), CInt(index)) == 0 || errno == EALREADY
    else { throw HCISocketError("HCIDEVUP", adapter: index) }
  }
}

extension Adapter {
  /// Makes up an adapter.
  init(
    index: UInt16, address: BluetoothAddress?, isUp: Bool, block: RadioBlock?, bus: String,
    features: [UInt8]
  ) {
    self.index = index
    self.address = address
    self.isUp = isUp
    self.block = block
    self.bus = bus
    self.features = features
  }
}
