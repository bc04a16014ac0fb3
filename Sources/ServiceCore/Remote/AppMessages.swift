import FoundationEssentials
package import Positioning
package import Regions
package import Scanning

// The messages between an application and the daemon that receives for it: the calls of the
// manager's clients and their events, one line of JSON each. docs/daemon.md describes the protocol.

/// A message of an application.
package enum AppMessage: Codable, Sendable {
  /// The first message.
  case hello(AppHello)
  case addClient(
    ClientIdentifier, group: ClientGroup, isReceiving: Bool, pacesRecordings: Bool)
  case removeClient(ClientIdentifier)
  case setReceiving(ClientIdentifier, Bool)
  case beginReceiving(ClientIdentifier)
  /// The client has processed the delivery of this number.
  case acknowledge(UInt64)
  /// The client is ready for the next delivery.
  case finish(UInt64)
  /// A call, which is answered by a ``DaemonMessage/reply(_:_:)`` with its number.
  case call(UInt64, AppCall)
}

/// A message of the daemon.
package enum DaemonMessage: Codable, Sendable {
  /// The first message, before which an application sends nothing: the kernel then shows that the
  /// process that answers is the one that connected.
  case greeting(version: Int)
  /// The answer to ``AppMessage/hello(_:)``, with the journal that numbers stored events.
  case welcome(version: Int, journal: String)
  /// The daemon does not serve the application, as the sentence explains.
  case refused(String)
  /// An event for a client. A stored event has the number of its journal entry, which is the same
  /// each time that the event is delivered.
  case delivery(UInt64, ClientIdentifier, DeliveredEvent, entry: Int64?)
  case reply(UInt64, DaemonReply)
}

/// An application's settings, which are valid for its own requests; `nil` for the daemon's.
package struct AppHello: Codable, Sendable, Hashable {
  /// The version of the protocol.
  package static let version = 1

  package var version = AppHello.version
  /// The seconds between two ranging reports.
  package var rangingInterval: Double?
  /// The rules of regions without rules of their own.
  package var rules: RegionRules?
  /// The most regions of beacons at once.
  package var maximumRegions: Int?

  /// The way in which the app is started for events while it does not run; `nil` for a unit or a
  /// sandbox, whose name is enough.
  package var launch: AppLaunch?

  package init() {}

  /// The settings without those of the start, which do not concern the services.
  package var settings: AppHello {
    var settings = self
    settings.launch = nil
    return settings
  }

  /// The sentence that explains which setting is not valid; `nil` if all are.
  package var refusal: String? {
    if let rangingInterval, !(0.1...3600).contains(rangingInterval) {
      return "rangingInterval is \(rangingInterval); state seconds from 0.1 to 3600"
    }
    if let maximumRegions, maximumRegions < 0 {
      return "maximumRegions is \(maximumRegions); state 0 or more"
    }
    return launch?.refusal
  }
}

/// The way in which an app is started while it does not run.
package enum AppLaunch: Codable, Sendable, Hashable {
  /// A unit or a sandbox by its name, another program by its path, with these arguments.
  case program(path: String, arguments: [String], folder: String)
  /// A name on the bus of the user's session (D-Bus activation).
  case busName(String)
  /// A file that changes, which a `.path` unit may watch.
  case marker
  case never

  /// This program with its arguments, in its folder; `nil` if the daemon would refuse them.
  package static var thisProgram: AppLaunch? {
    let files = FileManager.default
    let folder = files.currentDirectoryPath
    let launch = AppLaunch.program(
      path: (try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/",
      arguments: Array(CommandLine.arguments.dropFirst()),
      // A folder that was removed has no path.
      folder: folder.hasPrefix("/") ? folder : "/")
    return launch.refusal == nil ? launch : nil
  }

  fileprivate var refusal: String? {
    switch self {
    case .program(let path, let arguments, let folder):
      let texts = arguments + [path, folder]
      let bytes = texts.reduce(0) { $0 + $1.utf8.count + 1 }
      guard bytes <= 1 << 16, path.hasPrefix("/"), folder.hasPrefix("/"),
        !texts.contains(where: { $0.contains("\0") })
      else {
        return "launch has \(bytes) bytes, the path '\(path)' and the folder '\(folder)'; state "
          + "65536 bytes at most, and absolute paths"
      }
    case .busName(let name):
      let isName =
        name.utf8.count <= 255 && name.contains(".")
        && name.utf8.allSatisfy {
          $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
        }
      if !isName { return "launch has the bus name '\(name)'; state one such as org.example.App" }
    case .marker, .never: break
    }
    return nil
  }
}

/// A call of a manager or of a client.
package enum AppCall: Codable, Sendable {
  case beacons(BeaconRequest, ClientIdentifier)
  case location(LocationCall, ClientIdentifier)
  case beaconStatus
  case locationStatus
  case requestAuthorization(AuthorizationStatus)
  case authorization
  /// Answered after the events of earlier calls of a service.
  case afterOutput(ServiceName)
  /// Answered after clients have processed everything that a recording delivered.
  case deliveriesFinished(ServiceName)
  /// Answered when everything that was registered survives a failure of the daemon.
  case keepRegistrations
  /// Answered when everything that was registered is on the disk, and all events are sent.
  case flush
}

/// The services of a manager.
package enum ServiceName: String, Codable, Sendable, CaseIterable {
  case beacons
  case location
}

/// The answer to an ``AppCall``.
package enum DaemonReply: Codable, Sendable {
  case done
  case beacons(BeaconReply)
  case beaconsFailed(BeaconServiceError)
  case location(LocationReply)
  case locationFailed(LocationServiceError)
  case beaconStatus(BeaconStatus)
  case locationStatus(LocationStatus)
  case authorization(AuthorizationStatus)

  /// Whether the call had no effect. A call that was only denied has one with a later permission.
  var isFailure: Bool {
    switch self {
    case .beaconsFailed(let error): error != .denied
    case .locationFailed(let error): error != .denied
    default: false
    }
  }
}

/// An event on its way to another process.
package enum DeliveredEvent: Codable, Sendable {
  case beacons(BeaconEvent)
  case location(LocationEvent)
  case authorization(AuthorizationEvent)

  /// Creates the value of an event; `nil` for one that does not leave its process.
  package init?(_ event: any ServiceEvent) {
    switch event {
    case let event as BeaconEvent: self = .beacons(event)
    case let event as LocationEvent: self = .location(event)
    case let event as AuthorizationEvent: self = .authorization(event)
    default: return nil
    }
  }

  var event: any ServiceEvent {
    switch self {
    case .beacons(let event): event
    case .location(let event): event
    case .authorization(let event): event
    }
  }
}

/// The state of a source and of its service.
package struct SourceStatus: Codable, Sendable {
  /// The source's name for people; `nil` without a source.
  package var source: String?
  package var isRecorded = false
  package var availability = ScannerAvailability.available
  package var isWanted = false
  package var end: String?
  /// The failure with which the source ended, for people.
  package var failure: String?
  package var wallClockOffset = WallClockOffset.zero

  init() {}

  init<S: Service>(_ host: ServiceHost<S>) {
    source = host.shared?.source.name
    isRecorded = host.isRecorded
    availability = host.availability
    end = host.end
    failure = host.failure.map { "\($0)" }
  }
}

/// The state of a ``BeaconService``.
package struct BeaconStatus: Codable, Sendable {
  package var source = SourceStatus()
  package var receiverStates: [ScannerHealth] = []
  package var fault: ScannerHealth?
  /// The first and the last moment of reception; empty before.
  package var received: [MonotonicTime] = []
  package var ranged = BeaconCount()
  package var monitored = BeaconCount()
}

/// A number of beacons, and of those that were removed for others.
package struct BeaconCount: Codable, Sendable {
  package var count = 0
  package var evictions = 0

  init() {}

  init(_ number: (count: Int, evictions: Int)) {
    count = number.count
    evictions = number.evictions
  }
}

/// The state of a ``LocationService``.
package struct LocationStatus: Codable, Sendable {
  package var source = SourceStatus()
  package var hasCompass = false
  package var health: LocationHealth?
  package var fault: LocationHealth?
  package var latestFix: Fix?
}

/// The failure of a source in another process.
package struct RemoteFailure: Error, CustomStringConvertible {
  package let description: String
}

extension Encodable where Self: Sendable {
  /// The value as one line of JSON, with numbers that JSON does not have as texts.
  package func line() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    encoder.outputFormatting = .withoutEscapingSlashes
    return try Array(encoder.encode(self))
  }
}

extension Decodable where Self: Sendable {
  /// Reads a value from a line of JSON.
  package init(line: [UInt8]) throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    self = try decoder.decode(Self.self, from: Data(line))
  }
}

extension ClientGroup {
  private static let processPrefix = "process:"

  /// A new group whose registrations a daemon removes with the last of its clients.
  package static func ofProcess() -> ClientGroup {
    ClientGroup("\(processPrefix)\(String(UInt64.random(in: 0...UInt64.max), radix: 16))")
  }

  package var endsWithClients: Bool { name.hasPrefix(Self.processPrefix) }
}
