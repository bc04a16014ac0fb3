/// The content type of a capture's packets: a LINKTYPE value of pcap and pcapng
/// (<https://www.tcpdump.org/linktypes.html>), or the equivalent of a btsnoop datalink.
package struct LinkType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The LINKTYPE number; datalinks that only btsnoop has are offset by 2³².
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  private static var datalinks: UInt64 { 1 << 32 }

  init(btsnoopDatalink datalink: UInt32) {
    rawValue = datalink == 1002 ? PacketContents.h4.rawValue : Self.datalinks + UInt64(datalink)
  }

  var namesAdapters: Bool {
    let contents = PacketContents(self)
    return contents == .linuxMonitor || contents == .btsnoopMonitor
  }

  var isSupported: Bool { PacketContents(self) != .unsupported }

  /// The number, followed by the name if it is known: `link type 192 (PPI)`.
  package var description: String {
    let isDatalink = rawValue >= Self.datalinks
    let number = isDatalink ? rawValue - Self.datalinks : rawValue
    let kind = isDatalink ? "btsnoop datalink" : "link type"
    return "\(kind) \(number)" + (Self.names[rawValue].map { " (\($0))" } ?? "")
  }

  private static let names: [UInt64: String] = [
    0: "NULL", 1: "Ethernet", 101: "raw IP", 105: "IEEE 802.11", 113: "Linux cooked capture",
    127: "IEEE 802.11 radiotap", 187: "Bluetooth HCI H4", 189: "Linux USB", 192: "PPI",
    195: "IEEE 802.15.4", 201: "Bluetooth HCI H4 with direction", 220: "Linux USB, memory-mapped",
    227: "SocketCAN", 230: "IEEE 802.15.4 without FCS", 231: "D-Bus", 249: "USBPcap",
    251: "Bluetooth LE link layer", 254: "Bluetooth Linux monitor",
    255: "Bluetooth BR/EDR baseband",
    256: "Bluetooth LE link layer with radio header", 272: "nRF Sniffer for Bluetooth LE",
    276: "Linux cooked capture 2", datalinks + 1001: "HCI without H4", datalinks + 1003: "BCSP",
    datalinks + 1004: "H5", datalinks + 2001: "Linux monitor", datalinks + 2002: "simulator",
  ]
}
