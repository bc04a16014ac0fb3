import AppDaemon
import FoundationEssentials
import HTTPServing
import Logging
import Positioning
import ServiceCore

/// The part of the service that receives for apps.
final class AppsPart: Sendable {
  let consent: ConsentForm
  private let apps: Apps
  private let server: AppServer
  private let socket: AppConfiguration.Socket

  init(
    _ configuration: AppConfiguration, beacons: BeaconService, locations: LocationService,
    settings: BeaconService.Configuration, logger: Logger
  ) throws(ServiceFailure) {
    do {
      // Only the service reads what apps register.
      try FileManager.default.createDirectory(
        atPath: configuration.folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw ServiceFailure(
        .cannotCreate, "cannot create the folder \(configuration.folder): \(error)")
    }
    let authorizations = AppAuthorizations(
      AppAuthorizations.Configuration(decisions: "\(configuration.folder)/decisions.json"),
      logger: logger)
    consent = ConsentForm(authorizations.agents)
    var settings = Apps.Configuration(folder: configuration.folder, beacons: settings)
    settings.units = .system
    settings.markers = configuration.socket.folder.map { "\($0)/launch" }
    apps = Apps(
      settings, authorizations: authorizations, beacons: beacons, locations: locations,
      logger: logger)
    server = AppServer(apps, logger: logger)
    socket = configuration.socket
  }

  /// Monitors what apps have registered, and accepts connections.
  func start() throws(ServiceFailure) {
    apps.restore()
    switch socket {
    case .inherited(let descriptors):
      for descriptor in descriptors { server.listen(on: descriptor) }
    case .path(let path):
      do throws(AppRefusal) {
        server.listen(on: try AppServer.listen(at: path))
      } catch {
        throw ServiceFailure(.unavailable, error.sentence)
      }
    }
  }

  func stop() async {
    apps.endRelaunch()
    server.stop()
    await apps.stop()
  }
}

extension AppConfiguration.Socket {
  /// The folder of the socket; `nil` for one without a path.
  fileprivate var folder: String? {
    let path: String? =
      switch self {
      case .path(let path): path
      case .inherited(let descriptors): descriptors.first.flatMap(AppServer.path)
      }
    return path.map { URL(filePath: $0).deletingLastPathComponent().path }
  }
}
