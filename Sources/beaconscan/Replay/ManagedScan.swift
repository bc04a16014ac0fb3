import CaptureFiles
import CoreLocation
import Scanning

/// A source, the services that listen to it, and the one manager through which the command works.
struct ManagedScan {
  /// What a consumer wants next.
  enum Verdict { case more, enough }

  let scanner: any Scanning.Scanner
  let services: LocationServices
  let manager: CLLocationManager
  /// Takes what a person should know, a line each.
  let say: @Sendable (String) -> Void
  private let progress: Progress?

  /// Opens the source and makes the manager.
  ///
  /// - Parameters:
  ///   - source: What is listened to.
  ///   - offsets: How much stronger than true single adapters hear, in dB.
  ///   - output: How much is said on standard error.
  ///   - configure: How the services work.
  /// - Throws: `CommandError` where it cannot be opened or used, or the administrator forbids it.
  init(
    _ source: SourceOptions, offsets: [(AdapterName, Double)] = [], output: OutputOptions,
    configure: (inout LocationServices.Configuration) -> Void = { _ in }
  ) throws {
    try self.init(
      source.open(offsets: offsets), showsProgress: !output.quiet, configure: configure)
  }

  /// Makes the manager of a scanner.
  ///
  /// - Parameters:
  ///   - scanner: What listens.
  ///   - showsProgress: Whether a terminal is shown how far a replay has come.
  ///   - say: Takes what is said on standard error.
  ///   - configure: How the services work.
  /// - Throws: `CommandError` where it cannot be used, or the administrator forbids it.
  init(
    _ scanner: any Scanning.Scanner, showsProgress: Bool,
    say: @escaping @Sendable (String) -> Void = printError,
    configure: (inout LocationServices.Configuration) -> Void = { _ in }
  ) throws {
    (self.scanner, self.say) = (scanner, say)
    switch scanner.availability {
    case .available: break
    case .notPermitted(let sentence): throw CommandError(.noPermission, sentence)
    case .unavailable(let sentence): throw CommandError(.unavailable, sentence)
    }
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.applicationIdentifier = "beaconscan"
    configuration.persistence = .none
    configuration.isDrivenByHand = true
    configuration.remark = { say("beaconscan: \($0)") }
    configure(&configuration)
    services = LocationServices(configuration)
    manager = CLLocationManager(services: services)
    progress = (scanner as? ReplayScanner).flatMap { replay in
      Progress(
        of: replay, isWanted: showsProgress && replay.speed == .max && !replay.follows)
    }
    manager.requestAlwaysAuthorization()
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse: break
    case .denied, .restricted, .notDetermined:
      throw CommandError(
        .noPermission,
        "the administrator does not allow beaconscan to listen; see \(SystemAuthorization.path)")
    }
  }

  /// Whether adapters listen.
  var isLive: Bool { !scanner.isRecorded }

  /// Whether sightings say by which adapter they came.
  var namesAdapters: Bool {
    guard let replay = scanner as? ReplayScanner else { return true }
    return replay.statuses.contains(where: \.namesAdapters)
  }

  /// Whether results come as they happen, so that a reader wants each at once.
  var isPaced: Bool {
    guard let replay = scanner as? ReplayScanner else { return true }
    return replay.speed != .max || replay.follows
  }

  /// The distance from the source's time to wall-clock time.
  var wallClockOffset: WallClockOffset { WallClockOffset(nanoseconds: services.wallClockShift) }

  /// Says on standard error what a user should know of the source.
  func remark(_ output: OutputOptions) {
    (scanner as? ReplayScanner)?.remark(output)
  }

  /// Listens to the end, or until it is enough, or until an interrupt.
  ///
  /// - Parameters:
  ///   - isWanted: Whether to go on; asked ten times a second at least.
  ///   - consume: Takes what is new.
  /// - Returns: What was wrong with the source, to be said after the results.
  /// - Throws: What the consumer throws; ``CommandError/Status/interrupted`` where nothing had come yet.
  func run(
    while isWanted: () -> Bool = { true }, _ consume: (ServiceNews) throws -> Verdict
  ) throws -> CommandError? {
    defer { progress?.clear() }
    var failure: CommandError?
    do {
      try services.run {
        progress?.update()
        return !Interrupt.isRequested && isWanted()
      } show: { news in
        try consume(news) == .more
      }
    } catch let error as CaptureError {
      failure = CommandError(error)
    } catch let error where !(error is CommandError || error is ClosedPipe) {
      failure = CommandError(.unavailable, "\(scanner.name): \(error)")
    }
    if isLive, failure == nil, !Interrupt.isRequested { failure = refusal }
    // To have listened is all that a radio in a quiet room can do.
    if Interrupt.isRequested, !isLive, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was heard")
    }
    return failure
  }

  /// Why nothing is listened to any more though nobody has enough: permission went, or nothing was there when
  /// listening was to begin.
  private var refusal: CommandError? {
    switch scanner.availability {
    case .notPermitted(let sentence): CommandError(.noPermission, sentence)
    case .unavailable(let sentence) where services.listened == nil:
      CommandError(.unavailable, sentence)
    case .available, .unavailable: nil
    }
  }
}
