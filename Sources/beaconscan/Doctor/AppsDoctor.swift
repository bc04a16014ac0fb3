import AppDaemon
import FoundationEssentials
import Frontends
import ServiceCore
import Sources

/// Examines the service for apps, whose faults do not stop scanning.
enum AppsDoctor {
  static func findings() -> [Finding] {
    let paths = DaemonLink.paths(ProcessInfo.processInfo.environment)
    let reply: ManagementReply
    do throws(CommandError) {
      reply = try DaemonConnection.answer(to: .apps, at: nil)
    } catch {
      let isThere = paths.contains { FileManager.default.fileExists(atPath: $0) }
      return [
        isThere
          ? Finding(
            .apps, .warning, "apps: \(error.message)",
            command: "journalctl -u beaconscan-serve --grep connection")
          : Finding(
            .apps, .info,
            "no service for apps listens at \(either(paths)), so each app receives by itself")
      ]
    }
    guard case .apps(let apps) = reply else { return [] }
    let number = apps.count == 1 ? "1 app" : "\(apps.count) apps"
    return [Finding(.apps, .ok, "the service for apps answers, and shows \(number)")]
      + apps.flatMap(findings)
  }

  private static func findings(_ app: AppReport) -> [Finding] {
    var findings: [Finding] = []
    if app.decision.status == .notDetermined, !app.use.processes.isEmpty {
      findings.append(
        Finding(
          .apps, .warning,
          "\(app.decision.app) runs, and nobody has decided whether it may use the service",
          command: "beaconscan agent"))
    }
    if let relaunch = app.use.relaunch, relaunch.next != nil, let failure = relaunch.failure {
      let attempts = relaunch.attempts == 1 ? "once" : "\(relaunch.attempts) times"
      findings.append(
        Finding(
          .apps, .warning,
          "events wait for \(app.decision.app), which could not be started (\(attempts)): \(failure)"
        ))
    }
    return findings
  }
}
