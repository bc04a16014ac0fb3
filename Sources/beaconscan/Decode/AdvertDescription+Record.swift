import Advertising
import Records

extension AdvertDescription {
  static let record = RecordType<AdvertDescription>(
    "advert",
    [
      Field("input", .one(of: DecodeInput.allCases.filter { $0 != .auto }.map(\.rawValue))) {
        $0.input.rawValue
      }
    ],
    Field.sender(header) { $0.header.map { ($0.address, $0.addressType) } },
    [
      Field("eventType", .uint16, header) { $0.header?.eventType.rawValue.fieldValue ?? .absent },
      Field("rssi", .rssi, header) { $0.header.map(\.rssi.fieldValue) ?? .absent },
      Field("structures", each: Structure.record) { $0.structures },
      Field("beacons", .list(of: .one(of: Beacon.schemas))) { advert in
        FieldValue.list(advert.beacons) { $0.append(&$1) }
      },
      Field("problems", each: Problem.record) { $0.problems },
    ])

  private static let header = FieldPresence.together("header")
}

extension AdvertDescription.Structure {
  static let record = RecordType<AdvertDescription.Structure>(
    nil,
    [
      Field("offset", .count, column: Column(nil, .right)) { $0.offset },
      Field(
        "type", .integer(0...255),
        column: Column(priority: .key, fit: .cut(to: 10)) { $0.type.description }
      ) { $0.type.rawValue },
      Field("name", .text) { $0.type.description },
      Field("data", .hexadecimal, column: Column(priority: .main, fit: .cut(to: 9))) { $0.data },
    ])
}

extension AdvertDescription.Problem {
  static let record = RecordType<AdvertDescription.Problem>(
    nil,
    [Field("offset", .count) { $0.offset }, Field("reason", .text) { $0.reason }])
}

extension AdvertDescription {
  struct Beacon: Sendable {
    let name: String
    let append: @Sendable (inout [UInt8]) -> Void
    let labels: [(name: String, value: String)]

    /// A text that differs from that of other beacons of the same sender: the kind, and the
    /// identity if it is stable.
    let identity: String
    let summary: String

    private init<Frame: Sendable>(
      _ frame: Frame, _ record: RecordType<Frame>, identity: String = "", _ summary: String
    ) {
      self.identity = "\(record.typeName ?? "") \(identity)"
      self.summary = summary
      name = record.typeName ?? ""
      append = { record.append(frame, to: &$0) }
      labels = record.columns.compactMap { $0.label(frame) }.map { title, text in
        (["UUID", "URL"].contains(title) ? title : title.lowercased(), text)
      }
    }

    init(_ frame: IBeacon) {
      let identity = "\(frame.identity)"
      let name = BeaconNames.name(of: frame.identity).map { $0 + " " } ?? ""
      self.init(frame, Self.iBeacon, identity: identity, "iBeacon \(name)\(identity)")
    }

    init(_ frame: AltBeacon) {
      let identity = "\(frame.identity)"
      self.init(frame, Self.altBeacon, identity: identity, "AltBeacon \(identity)")
    }

    init(_ frame: Eddystone) {
      switch frame {
      case .uid(let power, let namespace, let instance):
        let identity = "\(namespace) \(instance)"
        self.init(
          (power, namespace, instance), Self.uid, identity: identity, "Eddystone-UID \(identity)")
      case .url(let power, let url): self.init((power, url), Self.url, "Eddystone-URL \(url)")
      case .telemetry(let voltage, let temperature, let adverts, let uptime):
        let warmth = temperature.map { ", \(decimal($0, 1)) °C" } ?? ""
        self.init(
          (voltage, temperature, adverts, uptime), Self.telemetry,
          "Eddystone-TLM \(voltage) mV\(warmth)")
      case .otherTelemetry(let version):
        self.init(version, Self.otherTelemetry, "Eddystone-TLM version \(version)")
      case .eid(let power, let identifier):
        self.init((power, identifier), Self.eid, "Eddystone-EID \(identifier)")
      }
    }
  }
}

extension AdvertDescription.Beacon {
  static var schemas: [Schema] {
    [
      iBeacon.schema, altBeacon.schema, uid.schema, url.schema, telemetry.schema,
      otherTelemetry.schema, eid.schema,
    ]
  }

  private static let iBeacon = RecordType<IBeacon>(
    "ibeacon",
    Field.identity { $0.identity },
    [
      measuredPower { $0.measuredPower },
      Field(
        "trailingByte", .boolean,
        column: Column("TRAILING") { $0.hasTrailingByte ? "one byte after the frame" : nil }
      ) { $0.hasTrailingByte },
    ])

  private static let altBeacon = RecordType<AltBeacon>(
    "altbeacon",
    Field.identity { $0.identity },
    [
      measuredPower { $0.measuredPower },
      Field("manufacturerReserved", .integer(0...255).orNull, column: Column("RESERVED")) {
        $0.manufacturerReserved
      },
    ])

  private static let uid = RecordType<(power: Int8, namespace: String, instance: String)>(
    "eddystone-uid",
    [
      txPower { $0.power },
      Field("namespace", .hexadecimal(bytes: 10), column: Column()) { $0.namespace },
      Field("instance", .hexadecimal(bytes: 6), column: Column()) { $0.instance },
    ])

  private static let url = RecordType<(power: Int8, url: String)>(
    "eddystone-url",
    [txPower { $0.power }, Field("url", .string, column: Column()) { $0.url }])

  private static let telemetry = RecordType<
    (voltage: UInt16, temperature: Double?, adverts: UInt32, uptime: Double)
  >(
    "eddystone-tlm",
    [
      Field("voltage", .uint16, column: Column("BATTERY") { "\($0.voltage) mV" }) { $0.voltage },
      Field(
        "temperature", .number(-128...128).orNull, decimals: 2,
        column: Column { frame in
          frame.temperature.map { "\(decimal($0, 2)) °C" } ?? "not measured"
        }
      ) { $0.temperature },
      Field("advertisingCount", .count, column: Column("ADVERTS")) { $0.adverts },
      Field(
        "secondsSinceBoot", .number(0...), decimals: 1,
        column: Column("UP") { "\(decimal($0.uptime, 1)) s" }
      ) { $0.uptime },
      Field("tenthsSinceBoot", .count) { Int(($0.uptime * 10).rounded()) },
    ])

  private static let otherTelemetry = RecordType<UInt8>(
    "eddystone-tlm", named: "eddystone-tlm-other",
    summary: "Telemetry of another version, for example encrypted.",
    [Field("version", .integer(0...255), column: Column()) { $0 }])

  private static let eid = RecordType<(power: Int8, identifier: String)>(
    "eddystone-eid",
    [
      txPower { $0.power },
      Field("eid", .hexadecimal(bytes: 8), column: Column("IDENTIFIER")) { $0.identifier },
    ])

  private static func measuredPower<Frame>(
    _ power: @escaping @Sendable (Frame) -> Int8
  ) -> Field<Frame> {
    Field(
      "measuredPower", .power, column: Column("MEASURED POWER") { "\(power($0)) dBm at 1 m" }, power
    )
  }

  private static func txPower<Frame>(_ power: @escaping @Sendable (Frame) -> Int8) -> Field<Frame> {
    Field("txPower", .power, column: Column("POWER") { "\(power($0)) dBm at 0 m" }, power)
  }
}
