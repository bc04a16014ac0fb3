/// The content type of a capture's packets: a LINKTYPE value of pcap and pcapng
/// (<https://www.tcpdump.org/linktypes.html>), or the equivalent of a btsnoop datalink.
package struct LinkType: RawRepresentable, Hashable, Sendable {
  /// The LINKTYPE number; datalinks that only btsnoop has are offset by 2³².
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// HCI, preceded by the H4 packet type.
  package static var hciH4: LinkType { LinkType(rawValue: 187) }
  /// A direction of four octets, followed by the contents of ``hciH4``.
  package static var hciH4WithDirection: LinkType { LinkType(rawValue: 201) }
  /// A link-layer packet from its access address to its CRC.
  package static var linkLayer: LinkType { LinkType(rawValue: 251) }
  /// Linux's monitor: adapter and opcode, followed by the packet.
  package static var linuxMonitor: LinkType { LinkType(rawValue: 254) }
  /// A header with channel, signal and flags, followed by the contents of ``linkLayer``.
  package static var linkLayerWithRadio: LinkType { LinkType(rawValue: 256) }
  package static var nordic: LinkType { LinkType(rawValue: 272) }
  /// btsnoop datalink 1001: HCI, with the packet type in the record's flags.
  package static var hciH1: LinkType { LinkType(rawValue: datalinks + 1001) }
  /// btsnoop datalink 2001: Linux's monitor, with adapter and opcode in the record's flags.
  package static var btsnoopMonitor: LinkType { LinkType(rawValue: datalinks + 2001) }

  private static var datalinks: UInt64 { 1 << 32 }

  init(btsnoopDatalink datalink: UInt32) {
    rawValue = datalink == 1002 ? Self.hciH4.rawValue : Self.datalinks + UInt64(datalink)
  }

  /// Whether packets contain their adapter's number.
  var namesAdapters: Bool { self == .linuxMonitor || self == .btsnoopMonitor }

  package var isSupported: Bool { PacketContents(self) != .unsupported }
}

extension LinkType: CustomStringConvertible {
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
