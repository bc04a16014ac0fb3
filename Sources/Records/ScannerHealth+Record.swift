package import Scanning

extension ScannerHealth {
  package static let record = RecordType<(health: ScannerHealth, time: WallClockTime)>(
    "health",
    [
      Field("time", .time) { $0.time },
      Field("state", .one(of: Condition.allCases.map(\.rawValue))) { $0.health.condition.rawValue },
      Field("adapter", .text.orNull) { $0.health.adapter },
      Field("address", .address) { $0.health.address },
      Field("receptionLost", .boolean) { $0.health.isReceptionLost },
      Field("message", .text) { $0.health.sentence },
    ])
}
