import Advertising
import DBusMessages
import Scanning

/// The adverts that bluetoothd shows as properties of devices, converted to sightings.
struct BlueZAdverts: ~Copyable {
  private var collector = SightingCollector()
  private let offsets: [(adapter: AdapterName, decibels: Double)]

  /// The maximum length of an advert's data in one AD structure.
  private static let maximumData = 252

  init(offsets: [(adapter: AdapterName, decibels: Double)]) { self.offsets = offsets }

  var counts: ScanCounts { collector.counts }

  mutating func remove(into sightings: inout [Sighting]) {
    swap(&collector.sightings, &sightings)
    collector.removeSightings()
  }

  mutating func receive(
    _ device: ManagedObjects.Properties, at path: String, rssi: Int8?, of target: AdapterTarget,
    at now: MonotonicTime
  ) {
    collector.counts.packets &+= 1
    let entries = device["ManufacturerData"]?.asEntries ?? []
    guard let adapter = target.index,
      let data = entries.first(where: { $0.key.asInt == 0x004C })?.value.unwrapped.asBytes,
      data.count <= Self.maximumData
    else { return }
    collector.counts.advertisingPackets &+= 1
    collector.adapter = adapter
    collector.time = now
    collector.wallTime = WallClockTime.now
    let structure = [UInt8(data.count + 3), 0xFF, 0x4C, 0x00] + data
    let first = collector.sightings.count
    // The bytes are initialized integers, which stay until the call returns.
    unsafe collector.receive(
      AdvertisingReport(
        data: structure.span.bytes, address: Self.address(of: device, at: path),
        addressType: device["AddressType"]?.asString == "public" ? .public : .random,
        eventType: .advNonconnInd, rssi: rssi))
    guard let offset = offsets.last(where: { target.matches($0.adapter) }) else { return }
    for place in first..<collector.sightings.count {
      collector.sightings[place].subtract(offset: offset.decibels)
    }
  }

  /// Returns a device's address; the last part of its path is `dev_AA_BB_CC_DD_EE_FF`.
  private static func address(
    of device: ManagedObjects.Properties, at path: String
  ) -> BluetoothAddress {
    let text =
      device["Address"]?.asString
      ?? String(path.suffix(17)).split(separator: "_").joined(separator: ":")
    return BluetoothAddress(text) ?? BluetoothAddress(rawValue: 0)
  }
}

struct BlueZDeviceSignal {
  let path: String
  /// The properties in the signal: a repeated advert changes no property, but is still an advert.
  private let named: ManagedObjects.Properties
  let device: ManagedObjects.Properties

  /// Reads a signal that the mirror has applied; returns `nil` if it is not about a device.
  init?(_ message: BusMessage, in objects: ManagedObjects) {
    let body = message.body
    switch message.member {
    case "PropertiesChanged" where body.count == 3 && body[0].asString == BlueZName.device:
      guard let path = message.path, let named = body[1].asProperties else { return nil }
      self.path = path
      self.named = named
      device = objects.objects[path]?[BlueZName.device] ?? named
    case "InterfacesAdded" where body.count == 2:
      guard let path = body[0].asString, let device = objects.objects[path]?[BlueZName.device]
      else { return nil }
      self.path = path
      self.device = device
      named = device
    default: return nil
    }
  }

  /// Returns whether the signal reports an advert. A monitor signals those of other kinds too.
  func isAdvert(hasMonitor: Bool) -> Bool {
    named[hasMonitor ? "ManufacturerData" : "RSSI"] != nil
  }

  var rssi: Int8? {
    (named["RSSI"] ?? device["RSSI"])?.asInt.flatMap { Int8(exactly: $0) }
      .flatMap(AdvertisingReport.rssi(hci:))
  }
}
