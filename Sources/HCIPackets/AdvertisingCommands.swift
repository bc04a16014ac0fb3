package import Advertising

/// How a controller is to advertise, to nobody in particular and without being connectable.
package struct AdvertisingParameters: Hashable, Sendable {
  /// Which packets go on air.
  package enum Packets: Hashable, Sendable {
    /// ADV_NONCONN_IND, which every receiver receives: at most 31 bytes of data.
    case legacy
    /// ADV_EXT_IND and AUX_ADV_IND, which receivers of Bluetooth 5 receive if they listen for them.
    case extended
  }

  /// How often, in units of 0.625 ms; 32 (20 ms) and more. The controller adds up to 10 ms each time.
  package var interval: UInt32  // Advertising_Interval_Min, Advertising_Interval_Max
  /// Which packets.
  package var packets: Packets
  /// The address to advertise with; `nil` for the adapter's own.  // Own_Address_Type
  package var randomAddress: BluetoothAddress?
  /// Whether extended packets say with which power they were sent.  // Include TxPower
  package var includesTransmitPower: Bool

  /// Makes parameters.
  package init(
    interval: UInt32 = 160, packets: Packets = .legacy, randomAddress: BluetoothAddress? = nil,
    includesTransmitPower: Bool = false
  ) {
    self.interval = interval
    self.packets = packets
    self.randomAddress = randomAddress
    self.includesTransmitPower = includesTransmitPower
  }
}

/// The commands of one of the two ways to advertise (Core Specification, Vol 4, Part E, §3.1.1): as with
/// ``ScanCommandSet``, a controller refuses the one after the other.
package enum AdvertisingCommandSet: Hashable, Sendable {
  /// Those of Bluetooth 4: one advert for the whole controller.
  case legacy
  /// Those of Bluetooth 5, LE Extended Advertising: several sets of adverts, each with a number.
  case extended(handle: UInt8)

  /// The highest number that a set of adverts may have.  // Advertising_Handle
  package static var highestHandle: UInt8 { 0xEF }

  /// The commands that a controller takes, by its 64 bytes of Supported_Commands (§6.27).
  package init(supportedCommands commands: [UInt8], handle: UInt8 = highestHandle) {
    // Octet 36, bits 2, 3 and 5: LE Set Extended Advertising Parameters, Data and Enable. The scan's
    // bits count, too: which of both ways it is holds for the whole controller.
    let isExtended =
      commands.count > 36 && commands[36] & 0x2C == 0x2C
      && ScanCommandSet(supportedCommands: commands) == .extended
    self = isExtended ? .extended(handle: handle) : .legacy
  }

  /// Switches the advert off, and gives its set back; what of it was not there may be refused.
  package var stop: [HCICommand] {
    switch self {
    case .legacy: [HCICommand(.setAdvertisingEnable, [0])]
    case .extended(let handle):
      [enable(false, handle), HCICommand(.removeAdvertisingSet, [handle])]
    }
  }

  /// Returns the commands that set all that is to be on air, and switch it on; `nil` where these commands cannot do that.
  /// AD structures have at most 31 bytes in legacy packets, else 251, which is what one command carries; a controller may
  /// have room for less. Legacy commands know legacy packets alone.
  package func start(_ parameters: AdvertisingParameters, data: [UInt8]) -> [HCICommand]? {
    guard (32...0xFF_FFFF).contains(parameters.interval) else { return nil }
    guard data.count <= (parameters.packets == .legacy ? 31 : 251) else { return nil }
    switch self {
    case .legacy:
      guard parameters.packets == .legacy, parameters.interval <= 0x4000 else { return nil }
      return startLegacy(parameters, data)
    case .extended(let handle):
      return startExtended(parameters, data, handle)
    }
  }

  private func startLegacy(_ parameters: AdvertisingParameters, _ data: [UInt8]) -> [HCICommand] {
    let interval = littleEndian(parameters.interval, 2)
    let isRandom = parameters.randomAddress != nil
    // ADV_NONCONN_IND, own address type, no peer, all three channels, no filter.
    let set = interval + interval + [0x03, isRandom ? 1 : 0, 0] + noAddress + [0x07, 0]
    let padding = [UInt8](repeating: 0, count: 31 - data.count)
    let address = parameters.randomAddress.map {
      HCICommand(.setRandomAddress, $0.littleEndianBytes)
    }
    return [
      address, HCICommand(.setAdvertisingParameters, set),
      HCICommand(.setAdvertisingData, [UInt8(data.count)] + data + padding),
      HCICommand(.setAdvertisingEnable, [1]),
    ].compactMap { $0 }
  }

  private func startExtended(
    _ parameters: AdvertisingParameters, _ data: [UInt8], _ handle: UInt8
  ) -> [HCICommand] {
    let interval = littleEndian(parameters.interval, 3)
    let isRandom = parameters.randomAddress != nil
    // Advertising_Event_Properties: bit 4, legacy packets; bit 6, include TxPower. None of the bits that
    // make an advert connectable or scannable.
    let properties: UInt8 =
      parameters.packets == .legacy ? 0x10 : parameters.includesTransmitPower ? 0x40 : 0
    var set = [handle, properties, 0] + interval + interval
    // All three channels, own address type, no peer, no filter, power as the host has no preference.
    set += [0x07, isRandom ? 1 : 0, 0] + noAddress + [0, 0x7F]
    // Both PHYs LE 1M, each advert's second packet at once, set identifier, no news of scan requests.
    set += [0x01, 0, 0x01, 0, 0]
    let address = parameters.randomAddress.map {
      HCICommand(.setAdvertisingSetRandomAddress, [handle] + $0.littleEndianBytes)
    }
    return [
      HCICommand(.setExtendedAdvertisingParameters, set), address,
      // Complete data, which should not be fragmented.
      HCICommand(
        .setExtendedAdvertisingData, [handle, 0x03, 0x01, UInt8(data.count)] + data),
      enable(true, handle),
    ].compactMap { $0 }
  }

  /// One set, until it is switched off.
  private func enable(_ isOn: Bool, _ handle: UInt8) -> HCICommand {
    HCICommand(.setExtendedAdvertisingEnable, [isOn ? 1 : 0, 1, handle, 0, 0, 0])
  }

  private var noAddress: [UInt8] { [UInt8](repeating: 0, count: 6) }

  private func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
