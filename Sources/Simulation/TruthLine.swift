import Advertising
package import Records
import Scanning

package enum TruthLine {
  private typealias Row = (mark: TruthMark, start: WallClockTime)

  package static var schemas: [Schema] { [crossing.schema, zone.schema, position.schema] }

  static func append(_ mark: TruthMark, from start: WallClockTime, to bytes: inout [UInt8]) {
    let record =
      switch mark.kind {
      case .enter, .exit: crossing
      case .zone: zone
      case .position: position
      }
    record.appendLine((mark, start), to: &bytes)
  }

  private static let crossing = RecordType<Row>(
    nil, named: "truthMark",
    [Field("type", .one(of: ["enter", "exit"])) { $0.mark.kind == .enter ? "enter" : "exit" }],
    head)

  private static let zone = RecordType<Row>(
    "zone", named: "truthZone", head,
    [
      Field("proximity", .one(of: TruthMark.Zone.allCases.map(\.rawValue))) { row -> String? in
        if case .zone(let zone) = row.mark.kind { zone.rawValue } else { nil }
      },
      distance,
    ])

  private static let position = RecordType<Row>(
    "position", named: "truthPosition", head, [distance])

  private static let head =
    [Field<Row>("time", .time) { $0.start.advanced(by: $0.mark.time * 1000) }]
    + Field.identity(isNamed: false) { $0.mark.beacon }

  private static let distance = Field<Row>("distance", .number(0...1000), decimals: 3) {
    $0.mark.distance
  }
}
