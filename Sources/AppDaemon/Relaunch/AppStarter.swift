import DBusMessages
import Dispatch
import Glibc
import ServiceCore

/// Starts an app that does not run: a unit of the system by systemd, another program in its user's
/// session, or whatever watches the app's marker, a file.
struct AppStarter: Sendable {
  /// The bus of the system's systemd; `nil` if it is not used.
  let system: UnitBus?
  /// The folder of the markers; `nil` for none.
  let markers: String?
  let sessions: SessionPrograms

  private let queue = DispatchQueue(label: "AppDaemon.start")

  init(system: UnitBus?, markers: String?, sessions: SessionPrograms) {
    self.system = system
    self.markers = markers
    self.sessions = sessions
  }

  func start(
    _ app: AppIdentity, _ launch: AppLaunch?,
    then: @escaping @Sendable (Relauncher.Failure?) -> Void
  ) {
    switch (launch, app.strength) {
    case (.never, _): break
    case (.marker, _):
      queue.async { [self] in then(writeMarker(of: app).map { Relauncher.Failure(sentence: $0) }) }
    // A sandbox must not have other programs started outside of it.
    case (_, .sandbox): sessions.start(app, nil, then: then)
    case (.busName, _), (_, .claim): sessions.start(app, launch, then: then)
    case (_, .systemUnit):
      guard let system else { return then(Relauncher.Failure(sentence: "systemd is not used")) }
      queue.async {
        do throws(BusError) {
          try system.startUnit(app.identifier)
          then(nil)
        } catch {
          then(Relauncher.Failure(sentence: "\(error)\(Self.advice(for: error))"))
        }
      }
    }
  }

  private static func advice(for error: BusError) -> String {
    error.name == "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
      || error.name == "org.freedesktop.DBus.Error.AccessDenied"
      ? "; give the service's user a rule of polkit, as in docs/daemon.md" : ""
  }

  /// Removes the marker of an app whose events are processed. The app must run: a unit of the type
  /// `path` starts it for this change too.
  func end(_ app: AppIdentity) {
    // The path outlives the call. There may be no marker.
    if let path = markerPath(of: app) { unsafe unlink(path) }
  }

  private func markerPath(of app: AppIdentity) -> String? {
    markers.map { "\($0)/\(app.fileName)" }
  }

  /// Writes the marker anew, so that systemd.path(5) notices that it has changed.
  private func writeMarker(of app: AppIdentity) -> String? {
    guard let markers, let path = markerPath(of: app) else { return "there are no markers" }
    // The paths outlive the calls. The service's file mode mask must not hide the file from the
    // programs that watch it.
    if unsafe mkdir(markers, 0o755) == 0 { unsafe chmod(markers, 0o755) }
    var folder = stat()
    guard unsafe lstat(markers, &folder) == 0, folder.st_mode & S_IFMT == S_IFDIR,
      folder.st_uid == geteuid()
    else { return "\(markers) is not a folder of the service's user; remove it" }
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let file = unsafe open(path, flags, 0o644)
    guard file >= 0, fchmod(file, 0o644) == 0, unsafe write(file, "\n", 1) == 1 else {
      let error = errno
      if file >= 0 { close(file) }
      return "\(path): \(unsafe String(cString: strerror(error)))"
    }
    close(file)
    return nil
  }
}
