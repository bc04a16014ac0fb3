package import Advertising
package import Scanning

extension Sighting {
  package static let truth = RecordType<Sighting>("sighting", fields(isNamed: false) { $0 })

  /// A line of the output of `scan`: a sighting and the name of its beacon's region.
  package static let record = RecordType<(sighting: Sighting, region: String?)>(
    "sighting", fields { $0.sighting },
    [
      Field("adapter", .adapter, .sometimes, isInCSV: false) { "hci\($0.sighting.adapter)" },
      Field("region", .text, .sometimes, column: Column(width: 8, fit: .cut(to: 8))) {
        $0.region?.fieldValue ?? .absent
      },
    ])

  private static func fields<Value>(
    isNamed: Bool = true, of sighting: @escaping @Sendable (Value) -> Sighting
  ) -> [Field<Value>] {
    [
      Field(
        "time", .time,
        column: Column(priority: .main, digits: 6) { sighting($0).wallTime }
      ) { sighting($0).wallTime }
    ] + Field.identity(isNamed: isNamed) { sighting($0).beacon } + [
      Field("measuredPower", .power, column: Column("POWER", .right, width: 5, priority: .extra)) {
        sighting($0).measuredPower
      },
      Field("rssi", .rssi, column: Column(nil, .right, width: 4, priority: .main)) {
        sighting($0).rssi
      },
    ]
      + Field.sender(column: Column(width: 17, missing: "anonymous", priority: .detail)) {
        (sighting($0).address, sighting($0).addressType)
      }
  }
}

extension Field {
  /// Returns the fields of a beacon's identity that may be `null`, and its name if it has one.
  package static func identityOrNull(
    of beacon: @escaping @Sendable (Value) -> BeaconIdentity?
  ) -> [Field] {
    [
      Field("uuid", .uuidOrNull) { beacon($0)?.uuid },
      Field("major", .uint16OrNull) { beacon($0)?.major },
      Field("minor", .uint16OrNull) { beacon($0)?.minor },
      BeaconNames.field(hasColumn: false, of: beacon),
    ]
  }

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

  package static func sender(
    _ presence: FieldPresence = .always, column: Column<Value>? = nil,
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
