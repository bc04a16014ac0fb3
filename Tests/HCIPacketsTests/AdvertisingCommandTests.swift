import Advertising
import Bytes
import HCIPackets
import Testing

/// The commands that make an iBeacon of a controller, byte by byte as the specification lays them out.
@Suite struct AdvertisingCommandTests {
  private static let beacon = IBeacon(
    identity: BeaconIdentity(
      uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0),
      major: 0x0102, minor: 0x0304),
    measuredPower: -59)

  /// Vol 4, Part E, §7.8.5, §7.8.7 and §7.8.9.
  @Test func legacyCommands() throws {
    let commands = try #require(
      AdvertisingCommandSet.legacy.start(
        AdvertisingParameters(interval: 0x00A0), data: Self.beacon.advertisingData))
    #expect(commands.map(\.opcode.rawValue) == [0x2006, 0x2008, 0x200A])
    #expect(
      commands[0].packet == [
        0x01, 0x06, 0x20, 15,
        0xA0, 0x00, 0xA0, 0x00,  // Advertising_Interval_Min, _Max: 100 ms
        0x03,  // Advertising_Type: ADV_NONCONN_IND
        0x00, 0x00, 0, 0, 0, 0, 0, 0,  // Own_Address_Type, Peer_Address_Type, Peer_Address
        0x07, 0x00,  // Advertising_Channel_Map, Advertising_Filter_Policy
      ])
    // The host's half of iBeacon: Flags, the frame, and one byte that is not used.
    #expect(
      commands[1].packet == [
        0x01, 0x08, 0x20, 32, 30, 0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15,
        0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96,
        0xE0, 0x01, 0x02, 0x03, 0x04, 0xC5, 0x00,
      ])
    #expect(commands[2].packet == [0x01, 0x0A, 0x20, 1, 1])
    #expect(AdvertisingCommandSet.legacy.stop.map(\.packet) == [[0x01, 0x0A, 0x20, 1, 0]])
  }

  /// Vol 4, Part E, §7.8.53, §7.8.54, §7.8.56 and §7.8.59.
  @Test func extendedCommandsWithLegacyPackets() throws {
    let set = AdvertisingCommandSet.extended(handle: 0xEF)
    let data = Self.beacon.advertisingData
    let commands = try #require(set.start(AdvertisingParameters(interval: 0x0A0B0C), data: data))
    #expect(commands.map(\.opcode.rawValue) == [0x2036, 0x2037, 0x2039])
    #expect(
      commands[0].packet == [
        0x01, 0x36, 0x20, 25,
        0xEF,  // Advertising_Handle
        0x10, 0x00,  // Advertising_Event_Properties: legacy, neither connectable nor scannable
        0x0C, 0x0B, 0x0A, 0x0C, 0x0B, 0x0A,  // Primary_Advertising_Interval_Min, _Max
        0x07,  // Primary_Advertising_Channel_Map
        0x00, 0x00, 0, 0, 0, 0, 0, 0,  // Own_Address_Type, Peer_Address_Type, Peer_Address
        0x00, 0x7F,  // Advertising_Filter_Policy, Advertising_TX_Power: no preference
        0x01, 0x00, 0x01,  // Primary PHY: 1M; Secondary_Advertising_Max_Skip; Secondary PHY: 1M
        0x00, 0x00,  // Advertising_SID, Scan_Request_Notification_Enable
      ])
    // Operation: complete; Fragment_Preference: better not.
    #expect(commands[1].packet == [0x01, 0x37, 0x20, 34, 0xEF, 0x03, 0x01, 30] + data)
    // Enable, one set, its handle, Duration (2), Max_Extended_Advertising_Events.
    #expect(commands[2].packet == [0x01, 0x39, 0x20, 6, 1, 1, 0xEF, 0, 0, 0])
    #expect(
      set.stop.map(\.packet) == [
        [0x01, 0x39, 0x20, 6, 0, 1, 0xEF, 0, 0, 0], [0x01, 0x3C, 0x20, 1, 0xEF],
      ])
  }

  /// Bits 4 and 6 of Advertising_Event_Properties.
  @Test(arguments: [
    (AdvertisingParameters.Packets.legacy, false, UInt8(0x10)), (.legacy, true, 0x10),
    (.extended, false, 0x00), (.extended, true, 0x40),
  ])
  func properties(packets: AdvertisingParameters.Packets, power: Bool, expected: UInt8) throws {
    let commands = try #require(
      AdvertisingCommandSet.extended(handle: 1).start(
        AdvertisingParameters(packets: packets, includesTransmitPower: power), data: []))
    #expect(Array(commands[0].parameters[1...2]) == [expected, 0])
  }

  @Test func randomAddress() throws {
    let address = try #require(BluetoothAddress("C1:02:03:04:05:06"))
    let parameters = AdvertisingParameters(randomAddress: address)
    let legacy = try #require(AdvertisingCommandSet.legacy.start(parameters, data: []))
    #expect(legacy[0].packet == [0x01, 0x05, 0x20, 6, 6, 5, 4, 3, 2, 0xC1])
    #expect(legacy[1].parameters[5] == 1)
    let extended = try #require(
      AdvertisingCommandSet.extended(handle: 7).start(parameters, data: []))
    // The set must be there before it has an address.
    #expect(extended.map(\.opcode.rawValue) == [0x2036, 0x2035, 0x2037, 0x2039])
    #expect(extended[1].packet == [0x01, 0x35, 0x20, 7, 7, 6, 5, 4, 3, 2, 0xC1])
    #expect(extended[0].parameters[10] == 1)
  }

  @Test(arguments: [
    (AdvertisingCommandSet.legacy, AdvertisingParameters.Packets.legacy, UInt32(32), 31, true),
    (.legacy, .legacy, 31, 31, false), (.legacy, .legacy, 0x4000, 0, true),
    (.legacy, .legacy, 0x4001, 0, false), (.legacy, .legacy, 32, 32, false),
    (.legacy, .extended, 32, 0, false), (.extended(handle: 0), .legacy, 0xFF_FFFF, 31, true),
    (.extended(handle: 0), .legacy, 0x100_0000, 31, false),
    (.extended(handle: 0), .legacy, 32, 32, false),
    (.extended(handle: 0), .extended, 32, 251, true),
    (.extended(handle: 0), .extended, 32, 252, false),
  ])
  func limits(
    set: AdvertisingCommandSet, packets: AdvertisingParameters.Packets, interval: UInt32,
    count: Int, isPossible: Bool
  ) {
    let commands = set.start(
      AdvertisingParameters(interval: interval, packets: packets),
      data: [UInt8](repeating: 0, count: count))
    #expect((commands != nil) == isPossible)
    for command in commands ?? [] {
      #expect(command.parameters.count <= 255)
      #expect(command.packet.count == command.parameters.count + 4)
    }
  }

  /// Supported_Commands, octet 36, bits 2, 3 and 5, and what makes the scan extended.
  @Test func choiceOfCommands() {
    var commands = [UInt8](repeating: 0, count: 64)
    #expect(AdvertisingCommandSet(supportedCommands: commands) == .legacy)
    #expect(AdvertisingCommandSet(supportedCommands: []) == .legacy)
    commands[36] = 0x2C
    #expect(AdvertisingCommandSet(supportedCommands: commands) == .legacy)
    commands[37] = 0x60
    #expect(AdvertisingCommandSet(supportedCommands: commands) == .extended(handle: 0xEF))
    #expect(
      AdvertisingCommandSet(supportedCommands: commands, handle: 3) == .extended(handle: 3))
    for bit in [0x04, 0x08, 0x20] as [UInt8] {
      commands[36] = 0xFF & ~bit
      #expect(AdvertisingCommandSet(supportedCommands: commands) == .legacy)
    }
  }

  /// What goes to a controller is what our own parsers make of it.
  @Test(arguments: [AdvertisingCommandSet.legacy, .extended(handle: 9)])
  func readBack(set: AdvertisingCommandSet) throws {
    let commands = try #require(
      set.start(AdvertisingParameters(), data: Self.beacon.advertisingData))
    for command in commands {
      let packet = command.packet
      let again = unsafe try HCICommand(packet.span.bytes, at: 1)
      #expect(again == command)
    }
    let isLegacy = set == .legacy
    let command = try #require(
      commands.first { $0.opcode == (isLegacy ? .setAdvertisingData : .setExtendedAdvertisingData) }
    )
    let start = isLegacy ? 1 : 4
    let length = Int(command.parameters[start - 1])
    let data = Array(command.parameters[start..<start + length])
    var heard: [IBeacon.Reading] = []
    var walk = unsafe ADStructures(data.span.bytes)
    while let structure = try walk.next() {
      if structure.type == .manufacturerSpecificData {
        heard.append(IBeacon.read(manufacturerData: structure.data))
      }
    }
    #expect(heard == [.frame(Self.beacon)])
  }
}
