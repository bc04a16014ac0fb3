package import Positioning
package import Scanning

package enum LocateLine: Sendable {
  case fix(Fix)
  case heading(Heading)
  /// The start or end of a visit, and the time of the report.
  case visit(VisitReport, at: WallClockTime)
}

extension LocateLine {
  package static let fix = RecordType<LocateLine>("fix", [time], position, movement)
  package static let heading = RecordType<LocateLine>("heading", [time], direction, [field])
  package static let visit = RecordType<LocateLine>("visit", [time], position, stay)

  package var record: RecordType<LocateLine> {
    switch self {
    case .fix: Self.fix
    case .heading: Self.heading
    case .visit: Self.visit
    }
  }

  package static let row = RecordType<LocateLine>(
    nil, [time, kind], position, movement, direction, stay)

  /// Returns the record type of a row of a table, with columns for what the lines may contain.
  package static func row(
    showsHeadings: Bool, showsVisits: Bool
  ) -> RecordType<LocateLine> {
    RecordType(
      nil, showsHeadings || showsVisits ? [time, kind] : [time], position, movement,
      showsHeadings ? direction : [], showsVisits ? stay : [])
  }

  private static let time = Field<LocateLine>(
    "time", .time, column: Column(priority: .main, time: \.time)
  ) { $0.time }

  private static let kind = Field<LocateLine>(
    "type", .string, column: Column("EVENT", width: 7, priority: .key)
  ) { $0.record.typeName }

  private static let position =
    Field<LocateLine>.place(isNullable: false, column: true) { $0.place } + [
      Field(
        "accuracy", .number(0...), decimals: 3,
        column: Column("±", .right, width: 8, priority: .main) { fixed($0.accuracy, 1, "m") }
      ) { $0.accuracy }
    ]

  private static let movement: [Field<LocateLine>] = [
    Field(
      "altitude", Schema.number.orNull, decimals: 3,
      column: Column(nil, .right, width: 8) { fixed($0.ownFix?.altitude, 1, "m") }
    ) { $0.ownFix?.altitude },
    Field("ellipsoidalAltitude", Schema.number.orNull, decimals: 3) {
      $0.ownFix?.ellipsoidalAltitude
    },
    Field("verticalAccuracy", .number(0...).orNull, decimals: 3) { $0.ownFix?.verticalAccuracy },
    Field(
      "speed", .number(0...).orNull, decimals: 3,
      column: Column(nil, .right, width: 9) { fixed($0.ownFix?.speed, 1, "m/s") }
    ) { $0.ownFix?.speed },
    Field("speedAccuracy", .number(0...).orNull, decimals: 3) { $0.ownFix?.speedAccuracy },
    Field(
      "course", .degrees.orNull, decimals: 3,
      column: Column(nil, .right, width: 6, priority: .detail) { fixed($0.ownFix?.course, 0, "°") }
    ) { $0.ownFix?.course },
    Field("courseAccuracy", .number(0...).orNull, decimals: 3) { $0.ownFix?.courseAccuracy },
  ]

  private static let direction: [Field<LocateLine>] = [
    Field(
      "magneticHeading", .degrees, decimals: 3,
      column: Column("MAGNETIC", .right, width: 8) { fixed($0.ownHeading?.magneticHeading, 1, "°") }
    ) { $0.ownHeading?.magneticHeading },
    Field(
      "trueHeading", .degrees.orNull, decimals: 3,
      column: Column("TRUE", .right, width: 7) { fixed($0.ownHeading?.trueHeading, 1, "°") }
    ) { $0.ownHeading?.trueHeading },
    Field("headingAccuracy", .number(0...).orNull, decimals: 3) { $0.ownHeading?.accuracy },
  ]

  /// The magnetic field along the device's axes, in microteslas.
  private static let field = Field<LocateLine>(
    "microteslas",
    RecordType<SIMD3<Double>>(
      nil,
      [
        Field("x", Schema.number, decimals: 3) { $0.x },
        Field("y", Schema.number, decimals: 3) { $0.y },
        Field("z", Schema.number, decimals: 3) { $0.z },
      ]), isNullable: true
  ) { $0.ownHeading?.field }

  private static let stay: [Field<LocateLine>] = [
    Field(
      "arrival", .timeOrNull,
      column: Column(priority: .main, digits: 0, time: \.ownVisit?.arrival)
    ) { $0.ownVisit?.arrival },
    Field(
      "departure", .timeOrNull,
      column: Column(priority: .main, digits: 0, time: \.ownVisit?.departure)
    ) { $0.ownVisit?.departure },
  ]

  private var ownFix: Fix? { if case .fix(let fix) = self { fix } else { nil } }
  private var ownHeading: Heading? { if case .heading(let heading) = self { heading } else { nil } }
  private var ownVisit: VisitReport? { if case .visit(let visit, _) = self { visit } else { nil } }

  private var time: WallClockTime {
    switch self {
    case .fix(let fix): fix.timestamp
    case .heading(let heading): heading.timestamp
    case .visit(_, let time): time
    }
  }
  private var place: Coordinate? { ownFix?.place ?? ownVisit?.place }
  private var accuracy: Double? { ownFix?.horizontalAccuracy ?? ownVisit?.horizontalAccuracy }
}

extension LocationHealth {
  package static let record = RecordType<(health: LocationHealth, time: WallClockTime)>(
    "health", named: "locationHealth",
    [
      Field("time", .time) { $0.time },
      Field("service", .one(of: ["location", "heading"])) {
        $0.health.subject == .locations ? "location" : "heading"
      },
      Field("state", .one(of: Condition.allCases.map(\.rawValue))) { $0.health.condition.rawValue },
      Field("message", .text) { $0.health.sentence },
    ])
}

extension Field {
  /// Returns the fields of a coordinate in degrees, to 7 decimals (about 0.01 m).
  package static func place(
    isNullable: Bool = true, column hasColumn: Bool = false,
    _ place: @escaping @Sendable (Value) -> Coordinate?
  ) -> [Field] {
    let (latitude, longitude) = (Schema.number(-90...90), Schema.number(-180...180))
    func column(_ degrees: @escaping @Sendable (Coordinate) -> Double) -> Column<Value>? {
      hasColumn
        ? Column(nil, .right, width: 11, priority: .key) { fixed(place($0).map(degrees), 6, "°") }
        : nil
    }
    return [
      Field(
        "latitude", isNullable ? latitude.orNull : latitude, decimals: 7,
        column: column(\.latitude)
      ) { place($0)?.latitude },
      Field(
        "longitude", isNullable ? longitude.orNull : longitude, decimals: 7,
        column: column(\.longitude)
      ) { place($0)?.longitude },
    ]
  }
}

extension Schema {
  /// A direction in degrees, less than 360; rounding may yield 360.
  fileprivate static let degrees = number(0...360)
}
