import AppDaemon
import Records
import Scanning
import ServiceCore

extension AppReport {
  static let record = RecordType<AppReport>(
    "app",
    [
      Field("app", .text, column: Column(priority: .key)) { $0.decision.app },
      Field("user", .text, column: Column(priority: .main)) { UserName.of($0.decision.user) },
      Field("userID", .integer(0...)) { $0.decision.user },
      Field(
        "status",
        .one(of: [
          "notDetermined", "restricted", "denied", "authorizedAlways", "authorizedWhenInUse",
        ]), column: Column(priority: .key) { $0.statusInWords }
      ) { $0.decision.status.rawValue },
      Field(
        "decidedBy", .one(of: ["administrator", "polkit", "person", "nobody"]),
        column: Column("DECIDED BY", priority: .main) { $0.decider }
      ) { $0.decision.decidedBy.rawValue },
      Field("decidingUser", .text.orNull) { $0.decision.decidingUser.map(UserName.of) },
      Field(
        "since", .timeOrNull, column: Column(priority: .detail, digits: 0) { $0.decision.since }
      ) {
        $0.decision.since
      },
      Field(
        "processes", .list(of: .integer(1...)),
        column: Column(priority: .usual) { report in
          report.use.processes.isEmpty ? nil : report.processList
        }
      ) { report in
        FieldValue.list(report.use.processes, text: report.processList) { process, bytes in
          bytes += "\(process)".utf8
        }
      },
      Field("regions", .count, column: Column(nil, .right)) { $0.use.regions },
      Field(
        "scan", .one(of: ScanDemand.allCases.map { "\($0)" }),
        column: Column { $0.use.beacons == .none ? nil : $0.scanInWords }
      ) { "\($0.use.beacons)" },
      Field(
        "locations", .boolean, column: Column { $0.use.locations ? "yes" : nil }
      ) { $0.use.locations },
      Field("events", .count, column: Column(nil, .right, priority: .detail)) {
        Int(clamping: $0.use.events)
      },
      Field("starts", .integer(0...).orNull) { $0.use.relaunch?.attempts },
      Field("nextStart", .timeOrNull) { $0.use.relaunch?.next },
      Field("startFailure", .text.orNull) { $0.use.relaunch?.failure },
    ])

  private var statusInWords: String {
    switch decision.status {
    case .notDetermined: "undecided"
    case .restricted: "restricted"
    case .denied: "denied"
    case .authorizedAlways: "always"
    case .authorizedWhenInUse: "while in use"
    }
  }

  private var decider: String {
    switch decision.decidedBy {
    case .person: decision.decidingUser.map(UserName.of) ?? "person"
    case .administrator, .polkit, .nobody: decision.decidedBy.rawValue
    }
  }

  private var scanInWords: String { use.beacons == .ranging ? "ranging" : "monitoring" }

  private var processList: String { use.processes.map { "\($0)" }.joined(separator: " ") }
}
