import CaptureFiles
import CoreLocation
import Scanning

/// A source, the services that listen to it, and the one manager through which the command works.
struct ManagedScan {
  /// What a consumer wants next.
  enum Verdict { case more, enough }

  let scanner: ReplayScanner
  let services: LocationServices
  let manager: CLLocationManager
  private let progress: Progress?

  /// Opens the source and makes the manager.
  ///
  /// - Parameters:
  ///   - source: What is listened to.
  ///   - output: How much is said on standard error.
  ///   - configure: How the services work.
  /// - Throws: `CommandError` where it cannot be opened, or the administrator forbids it.
  init(
    _ source: SourceOptions, output: OutputOptions,
    configure: (inout LocationServices.Configuration) -> Void = { _ in }
  ) throws {
    scanner = try source.open()
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.applicationIdentifier = "beaconscan"
    configuration.persistence = .none
    configuration.isDrivenByHand = true
    configuration.remark = { printError("beaconscan: \($0)") }
    configure(&configuration)
    services = LocationServices(configuration)
    manager = CLLocationManager(services: services)
    progress = Progress(
      of: scanner, isWanted: !output.quiet && source.speed == .max && !source.follow)
    manager.requestAlwaysAuthorization()
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse: break
    case .denied, .restricted, .notDetermined:
      throw CommandError(
        .noPermission,
        "the administrator does not allow beaconscan to listen; see \(SystemAuthorization.path)")
    }
  }

  /// Whether results come as they happen, so that a reader wants each at once.
  var isPaced: Bool { scanner.speed != .max }

  /// What to add to a moment to show it, in nanoseconds.
  var wallClockShift: Int64 { services.wallClockShift }

  /// Listens to the end, or until it is enough, or until an interrupt.
  ///
  /// - Parameter consume: Takes what is new.
  /// - Returns: What was wrong with the source, to be said after the results.
  /// - Throws: What the consumer throws; ``CommandError/Status/interrupted`` where nothing had come yet.
  func run(_ consume: (ServiceNews) throws -> Verdict) throws -> CommandError? {
    defer { progress?.clear() }
    var failure: CommandError?
    do {
      try services.run {
        progress?.update()
        return !Interrupt.isRequested
      } show: { news in
        try consume(news) == .more
      }
    } catch let error as CaptureError {
      failure = CommandError(error)
    }
    if Interrupt.isRequested, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was heard")
    }
    return failure
  }
}
