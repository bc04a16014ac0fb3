import ArgumentParser
import Frontends
import KioskService

struct AppOptions: ParsableArguments {
  @Option(
    .file(
      "apps", "Receive for the apps of this machine, which connect at this Unix socket.",
      details:
        "Each app is asked for and gets what it may have: see docs/daemon.md. Sockets that systemd "
        + "passes under the name apps are used in place of it.",
      valid: "write the path of a socket, such as /run/beaconscan/apps.sock",
      isValid: { $0 != "-" }
    ).rare)
  var apps: String?

  @Option(
    .file(
      "apps-state", "Keep the apps' regions, events and permissions in this folder.",
      valid: "write the name of a folder, which stays", isValid: { $0 != "-" }
    ).rare)
  var appsState: String?

  func validate() throws {
    let isPassed = !SystemdLink.inheritedAppSockets.isEmpty
    switch (apps, appsState) {
    case (.some, nil): throw ValidationError("--apps needs a folder; give --apps-state FOLDER too.")
    case (nil, nil) where isPassed:
      throw ValidationError("systemd passes a socket for apps; give --apps-state FOLDER too.")
    case (nil, .some) where !isPassed:
      throw ValidationError("--apps-state is for apps; give --apps SOCKET too.")
    default: break
    }
  }

  var configuration: AppConfiguration? {
    guard let appsState else { return nil }
    let passed = SystemdLink.inheritedAppSockets
    guard passed.isEmpty else {
      return AppConfiguration(socket: .inherited(passed), folder: appsState)
    }
    return apps.map { AppConfiguration(socket: .path($0), folder: appsState) }
  }
}
