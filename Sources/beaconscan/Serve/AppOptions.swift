import ArgumentParser
import Frontends

struct AppOptions: ParsableArguments {
  @Option(
    .file(
      "apps", "Receive for the apps of this machine, which connect at this Unix socket.",
      details: "Each app is asked for and gets what it may have: see docs/daemon.md.",
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
    switch (apps, appsState) {
    case (.some, nil): throw ValidationError("--apps needs a folder; give --apps-state FOLDER too.")
    case (nil, .some): throw ValidationError("--apps-state is for apps; give --apps SOCKET too.")
    default: break
    }
  }
}
