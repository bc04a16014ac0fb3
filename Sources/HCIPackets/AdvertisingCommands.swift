package import Advertising

/// The parameters of undirected, non-connectable advertising.
package struct AdvertisingParameters: Hashable, Sendable {
  package enum Packets: CaseIterable, Hashable, Sendable {
    /// ADV_NONCONN_IND, which every scanner receives; at most 31 bytes of data.
    case legacy
    /// ADV_EXT_IND and AUX_ADV_IND, which only scanners with extended scanning receive.
    case extended
  }

  /// The interval in units of 0.625 ms, at least 32. The controller adds up to 10 ms each time.
  package var interval: UInt32  // Advertising_Interval_Min, Advertising_Interval_Max
  package var packets: Packets
  /// The address to advertise with (Own_Address_Type); `nil` for the adapter's own.
  package var randomAddress: BluetoothAddress?
  /// Whether extended packets contain their transmit power (Include TxPower).
  package var includesTransmitPower: Bool

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

/// A set of advertising commands. A controller that was given commands of one set refuses those of
/// the other (Core Specification, Vol 4, Part E, §3.1.1).
package enum AdvertisingCommandSet: Hashable, Sendable {
  /// The commands of Bluetooth 4: one advert for the whole controller.
  case legacy
  /// LE Extended Advertising (Bluetooth 5): several numbered sets.
  case extended(handle: UInt8)

  package static var highestHandle: UInt8 { 0xEF }

  /// Selects the set that a controller supports from its 64 bytes of Supported_Commands (§6.27).
  package init(supportedCommands commands: [UInt8], handle: UInt8 = highestHandle) {
    // Octet 36, bits 2, 3 and 5: LE Set Extended Advertising Parameters, Data and Enable. The
    // scan's bits count too, because a controller uses one set for both.
    let isExtended =
      commands.count > 36 && commands[36] & 0x2C == 0x2C
      && ScanCommandSet(supportedCommands: commands) == .extended
    self = isExtended ? .extended(handle: handle) : .legacy
  }

  /// The commands that stop advertising and remove its set. The controller may refuse some of them.
  package var stop: [HCICommand] {
    switch self {
    case .legacy: [HCICommand(.setAdvertisingEnable, [0])]
    case .extended(let handle):
      [enable(false, handle), HCICommand(.removeAdvertisingSet, [handle])]
    }
  }

  /// Returns the commands that start advertising; `nil` if this set cannot express it. Legacy
  /// packets carry at most 31 bytes of AD structures, extended ones 251 in one command.
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
    // Advertising_Event_Properties: bit 4, legacy packets; bit 6, include TxPower.
    let properties: UInt8 =
      parameters.packets == .legacy ? 0x10 : parameters.includesTransmitPower ? 0x40 : 0
    var set = [handle, properties, 0] + interval + interval
    // All three channels, own address type, no peer, no filter, no preference for the power.
    set += [0x07, isRandom ? 1 : 0, 0] + noAddress + [0, 0x7F]
    // LE 1M as both PHYs, Secondary_Advertising_Max_Skip 0, SID 0, no scan request notifications.
    set += [0x01, 0, 0x01, 0, 0]
    let address = parameters.randomAddress.map {
      HCICommand(.setAdvertisingSetRandomAddress, [handle] + $0.littleEndianBytes)
    }
    return [
      HCICommand(.setExtendedAdvertisingParameters, set), address,
      // Operation: complete data; the controller should not fragment it.
      HCICommand(
        .setExtendedAdvertisingData, [handle, 0x03, 0x01, UInt8(data.count)] + data),
      enable(true, handle),
    ].compactMap { $0 }
  }

  private func enable(_ isOn: Bool, _ handle: UInt8) -> HCICommand {
    HCICommand(.setExtendedAdvertisingEnable, [isOn ? 1 : 0, 1, handle, 0, 0, 0])
  }

  private var noAddress: [UInt8] { [UInt8](repeating: 0, count: 6) }

  private func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
