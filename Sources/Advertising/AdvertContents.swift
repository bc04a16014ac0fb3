import Bytes

/// The sender's name, company and services in advertising data (Supplement to the Bluetooth Core
/// Specification, Part A, §1).
package struct AdvertContents: Hashable, Sendable {
  /// The local name; a complete name takes precedence over a shortened one.
  package private(set) var name: String?
  /// The company of the manufacturer-specific data; that of an iBeacon only if there is no other.
  package private(set) var company: UInt16?
  /// The services, each once, in the order of the data: `FEAA`, `0000FEAA`, or a 128-bit UUID.
  package private(set) var services: [String] = []

  package static let maximumServices = 16

  private var hasCompleteName = false
  private var hasFormatCompany = false

  /// Reads advertising data up to the first malformed structure.
  package init(_ data: RawSpan) {
    var walk = ADStructures(data)
    while let structure = try? walk.next() { read(structure) }
  }

  /// Merges other data of the same sender: a scan response, or an alternating advert.
  package mutating func merge(_ other: AdvertContents) {
    if let name = other.name, other.hasCompleteName || !hasCompleteName {
      self.name = name
      hasCompleteName = other.hasCompleteName
    }
    if other.company != nil, company == nil || hasFormatCompany || !other.hasFormatCompany {
      company = other.company
      hasFormatCompany = other.hasFormatCompany
    }
    for service in other.services { add(service) }
  }

  private mutating func read(_ structure: ADStructure) {
    let data = structure.data
    switch structure.type.rawValue {
    case 0x02, 0x03: addServices(data.array, bytes: 2)
    case 0x04, 0x05: addServices(data.array, bytes: 4)
    case 0x06, 0x07: addServices(data.array, bytes: 16)
    // Service data begins with the service's UUID.
    case 0x16: addServices(data.extracting(first: 2).array, bytes: 2)
    case 0x20: addServices(data.extracting(first: 4).array, bytes: 4)
    case 0x21: addServices(data.extracting(first: 16).array, bytes: 16)
    case 0x08 where !hasCompleteName: name = Self.text(data)
    case 0x09:
      name = Self.text(data)
      hasCompleteName = true
    case 0xFF where company == nil || hasFormatCompany:
      guard data.byteCount >= 2 else { return }
      company = data.littleEndian(UInt16.self, at: 0)
      hasFormatCompany = if case .frame = IBeacon.read(structure) { true } else { false }
    default: break
    }
  }

  private mutating func addServices(_ data: [UInt8], bytes: Int) {
    let starts = stride(from: 0, through: data.count - bytes, by: bytes)
    for start in starts.prefix(Self.maximumServices) {
      // The least significant octet comes first.
      let digits = data[start..<(start + bytes)].reversed().map(\.hexadecimal).joined()
      add(bytes == 16 ? ProximityUUID(digits)?.description ?? digits : digits)
    }
  }

  private mutating func add(_ service: String) {
    guard services.count < Self.maximumServices, !services.contains(service) else { return }
    services.append(service)
  }

  /// Decodes UTF-8 up to a zero byte; returns `nil` if the text is empty.
  private static func text(_ data: RawSpan) -> String? {
    let bytes = data.array.prefix { $0 != 0 }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

/// The names of companies that are common on air (Bluetooth Assigned Numbers, §7).
package enum CompanyName {
  package static func of(_ company: UInt16) -> String? { names[company] }

  private static let names: [UInt16: String] = [
    0x0001: "Nokia", 0x0002: "Intel", 0x0003: "IBM", 0x0004: "Toshiba", 0x0006: "Microsoft",
    0x0008: "Motorola", 0x000A: "Qualcomm (CSR)", 0x000D: "Texas Instruments", 0x000F: "Broadcom",
    0x001D: "Qualcomm", 0x0025: "NXP", 0x0030: "STMicroelectronics", 0x0036: "Renesas",
    0x003A: "Panasonic", 0x0046: "MediaTek", 0x0047: "Bluegiga", 0x004C: "Apple",
    0x0055: "Plantronics", 0x0057: "Harman", 0x0059: "Nordic Semiconductor", 0x005D: "Realtek",
    0x0067: "GN Audio (Jabra)", 0x006B: "Polar", 0x0075: "Samsung", 0x0077: "Laird", 0x0078: "Nike",
    0x0087: "Garmin", 0x0089: "GN Hearing", 0x008C: "Gimbal", 0x0094: "Airoha", 0x009E: "Bose",
    0x009F: "Suunto", 0x00B5: "Swirl", 0x00C4: "LG", 0x00C7: "Quuppa", 0x00CC: "Beats",
    0x00CD: "Microchip", 0x00CE: "Eve", 0x00D2: "Dialog", 0x00DC: "Procter & Gamble",
    0x00E0: "Google", 0x0103: "Bang & Olufsen", 0x0118: "Radius Networks", 0x011B: "HPE (Aruba)",
    0x0124: "HID", 0x012D: "Sony", 0x012E: "Assa Abloy", 0x0131: "Cypress", 0x0157: "Huami",
    0x015D: "Estimote", 0x0171: "Amazon", 0x0180: "Gigaset", 0x018E: "Fitbit", 0x01AB: "Meta",
    0x01DA: "Logitech", 0x01DD: "Philips", 0x01F1: "Zebra", 0x01FD: "Kontakt.io", 0x0211: "Telink",
    0x021B: "Cisco", 0x022B: "Tesla", 0x022E: "Siemens", 0x027D: "Huawei", 0x02A6: "Bosch",
    0x02C5: "Lenovo", 0x02E1: "Victron", 0x02E5: "Espressif", 0x02F2: "GoPro",
    0x02FF: "Silicon Labs", 0x030C: "Hilti", 0x0334: "Airthings", 0x038F: "Xiaomi",
    0x03FF: "Withings", 0x041E: "Dell", 0x0494: "Sennheiser", 0x0499: "Ruuvi", 0x0500: "Wiliot",
    0x0526: "Honeywell", 0x0553: "Nintendo", 0x055D: "Valve", 0x05A7: "Sonos", 0x05D6: "Jieli",
    0x060F: "Signify", 0x0639: "Minew", 0x0642: "Bluetrum", 0x067C: "Tile", 0x06D5: "Sensirion",
    0x072F: "OnePlus", 0x0757: "ELA Innovation", 0x079A: "Oppo", 0x07D0: "Tuya", 0x080B: "Nanoleaf",
    0x0822: "Adafruit", 0x0837: "Vivo", 0x089A: "Teltonika", 0x08A4: "Realme", 0x08C3: "Chipolo",
    0x094F: "MikroTik", 0x0969: "SwitchBot", 0x09C6: "Honor", 0x09FC: "Confidex",
    0x0A2D: "Feasycom", 0x0A62: "Moko", 0x0B27: "Lumi (Aqara)", 0x0BA9: "Shelly", 0x0CC2: "Anker",
  ]
}
