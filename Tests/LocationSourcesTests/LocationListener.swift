import LocationSources
import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestSupport

/// A client of the location service on a source, which keeps what it received.
final class LocationListener: Sendable {
  let manager: ServiceManager
  let service: LocationService
  let client: LocationClient
  private let inbox = Inbox()

  /// What was received.
  struct Received {
    var fixes: [Fix] = []
    var health: [LocationHealth] = []
    var crossings: [GeofenceTransition] = []
    var visits: [VisitReport] = []
    var headings: [Heading] = []
    var statuses: [AuthorizationStatus] = []
    var refusals = 0
    var hasEnded = false

    func conditions(of subject: LocationHealth.Subject) -> [LocationHealth.Condition] {
      health.filter { $0.subject == subject }.map(\.condition)
    }
    var conditions: [LocationHealth.Condition] { conditions(of: .locations) }
    var faults: [LocationHealth.Condition] { health.map(\.condition).filter(\.isFault) }
  }

  private final class Inbox: Sendable {
    let received = Mutex(Received())

    func take(_ event: any ServiceEvent) {
      received.withLock { received in
        switch event {
        case LocationEvent.fixes(let fixes): received.fixes += fixes
        case LocationEvent.health(let health, _): received.health.append(health)
        case LocationEvent.circle(let event):
          if event.transition.change.isCrossing { received.crossings.append(event.transition) }
        case LocationEvent.visit(let visit): received.visits.append(visit)
        case LocationEvent.heading(let heading): received.headings.append(heading)
        case LocationEvent.refused: received.refusals += 1
        case LocationEvent.ended: received.hasEnded = true
        case let event as AuthorizationEvent: received.statuses.append(event.status)
        default: break
        }
      }
    }
  }

  init(_ source: any LocationSource) {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    manager = ServiceManager(configuration)
    service = LocationService(manager, source: source)
    let client = manager.addClient { [inbox] delivery in
      inbox.take(delivery.event)
      delivery.acknowledge()
      delivery.finish()
    }
    self.client = LocationClient(client, of: service)
    manager.requestAuthorization(.authorizedAlways)
  }

  var received: Received { inbox.received.withLock { $0 } }

  func forget() { inbox.received.withLock { $0 = Received() } }

  /// Starts updates with every fix that the source has.
  func start(_ accuracy: AccuracyClass = .bestForNavigation) throws {
    var settings = UpdateSettings()
    (settings.accuracy, settings.pausesAutomatically) = (accuracy, false)
    try client.startUpdates(settings)
  }

  func stop() { client.stopUpdates() }

  /// Waits until what was received meets a condition.
  func receives(_ condition: (Received) -> Bool) -> Bool { eventually { condition(received) } }
}
