import Advertising
import BeaconTesting
import Ranging
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport

/// A beacon service on a source of a test's choice, used by its public interface alone.
final class Site: Sendable {
  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let all = BeaconConstraint(uuid: uuid)

  let manager: ServiceManager
  let beacons: BeaconService

  init(
    _ scanner: any Scanner, persistence: ServiceManager.Persistence = .none,
    authorization: any AuthorizationProvider = Administrator(),
    pins: [BeaconIdentity: BluetoothAddress] = [:], sides: Sides? = nil
  ) throws {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = persistence
    configuration.authorization = authorization
    manager = ServiceManager(configuration)
    var service = BeaconService.Configuration()
    // A fixed timeout, so that the moments are plain.
    service.rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    service.pins = pins
    service.sides = sides
    beacons = BeaconService(manager, scanner: scanner, configuration: service)
  }

  static func frame(_ minor: UInt16) -> BeaconFrame {
    BeaconFrame(uuid: uuid, major: 1, minor: minor)
  }

  static func one(_ minor: UInt16) -> BeaconConstraint {
    BeaconConstraint(uuid: uuid, major: 1, minor: minor)
  }

  static func region(_ identifier: String, _ constraint: BeaconConstraint = all) -> BeaconRegion {
    BeaconRegion(identifier: identifier, constraint: constraint)
  }

  /// Adds a client, and collects its events.
  func reader(in group: ClientGroup = .application) -> Reader {
    Reader(beacons.addClient(in: group))
  }
}

/// A client that iterates over its events.
final class Reader: Sendable {
  private struct State {
    var events: [BeaconEvent] = []
    var hasEnded = false
    var failure: (any Error)?
  }

  let client: BeaconClient
  private let state: Mutex<State>

  init(_ client: BeaconClient) {
    self.client = client
    state = Mutex(State())
    Task { [self] in
      do {
        for try await event in client.events {
          state.withLock { $0.events.append(event) }
        }
      } catch {
        state.withLock { $0.failure = error }
      }
      state.withLock { $0.hasEnded = true }
    }
  }

  var events: [BeaconEvent] { state.withLock { $0.events } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }
  var failure: (any Error)? { state.withLock { $0.failure } }

  var sightings: [Sighting] {
    events.flatMap { event -> [Sighting] in
      if case .sightings(let sightings) = event { sightings } else { [] }
    }
  }

  var reports: [RangingReport] {
    events.compactMap { if case .ranging(let report) = $0 { report } else { nil } }
  }

  var regions: [RegionEvent] {
    events.compactMap { if case .region(let event) = $0 { event } else { nil } }
  }

  var states: [String: RegionState] {
    var states: [String: RegionState] = [:]
    for case .regionState(let region, let state) in events { states[region.identifier] = state }
    return states
  }

  var registered: Int {
    events.count { if case .registered = $0 { true } else { false } }
  }

  var health: [ScannerHealth] {
    events.compactMap { if case .health(let health, at: _) = $0 { health } else { nil } }
  }
}

/// An administrator whose rule a test can change.
final class Administrator: AuthorizationProvider {
  let current = Mutex(AuthorizationRule.granted(.authorizedAlways))

  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    current.withLock { $0 }
  }
}
