package import Advertising
package import Scanning

extension Sighting {
  /// A line of `scan`, and of a simulation's truth.
  package static let record = RecordType<Sighting>(
    "sighting",
    [
      Field("time", .time, column: Column(priority: .main, digits: 6, time: \.wallTime)) {
        $0.wallTime
      }
    ],
    Field.identity { $0.beacon },
    [
      Field("measuredPower", .power, column: Column("POWER", .right, width: 5, priority: .extra)) {
        $0.measuredPower
      },
      Field("rssi", .rssi, column: Column(nil, .right, width: 4, priority: .main)) { $0.rssi },
    ],
    Field.sender(column: Column(width: 17, missing: "anonymous", priority: .detail)) {
      ($0.address, $0.addressType)
    },
    [Field("adapter", .adapter, .sometimes, csv: .none) { "hci\($0.adapter)" }])

  /// The same where the adapter is not known.
  package static let recordWithoutAdapter = record.omitting(.sometimes)
}

extension Field {
  /// Returns the fields of a beacon's identity, and its name where the user gave it one.
  package static func identity(
    isNamed: Bool = true, of beacon: @escaping @Sendable (Value) -> BeaconIdentity
  ) -> [Field] {
    [
      Field("uuid", .uuid, column: Column(width: 36, fit: .ends)) { beacon($0).uuid },
      Field("major", .uint16, column: Column(nil, .right, width: 5, priority: .key)) {
        beacon($0).major
      },
      Field("minor", .uint16, column: Column(nil, .right, width: 5, priority: .key)) {
        beacon($0).minor
      },
    ] + (isNamed ? [BeaconNames.field(of: beacon)] : [])
  }

  /// Returns the two fields of an advertiser's address; they are left out where there is none.
  package static func sender(
    _ presence: Presence = .always, column: Column<Value>? = nil,
    of sender: @escaping @Sendable (Value) -> (address: BluetoothAddress, type: AddressType)?
  ) -> [Field] {
    [
      Field("address", .address, presence, column: column) { value in
        sender(value).map { $0.type == .anonymous ? .null : $0.address.fieldValue } ?? .absent
      },
      Field("addressType", .addressType, presence) { sender($0)?.type.fieldValue ?? .absent },
    ]
  }
}
