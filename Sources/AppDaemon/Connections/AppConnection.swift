import Dispatch
import Positioning
package import ServiceCore
import Synchronization

/// The services of one application in the daemon.
package struct AppServices: Sendable {
  package let manager: ServiceManager
  package let beacons: BeaconService
  package let locations: LocationService
  /// The number of events that were sent to the application.
  let events = EventCount()

  package init(_ manager: ServiceManager, _ beacons: BeaconService, _ locations: LocationService) {
    self.manager = manager
    self.beacons = beacons
    self.locations = locations
  }
}

extension AppServices {
  /// Removes what groups that end with their clients have registered, where no client is left.
  func removeEndedGroups() {
    for group in beacons.groups.union(locations.groups) where group.endsWithClients {
      guard !manager.hasClients(in: group) else { continue }
      let client = manager.addClient(in: group, isReceiving: false)
      let ofBeacons = BeaconClient(client, of: beacons)
      for region in ofBeacons.regions { ofBeacons.unregister(region.identifier) }
      let ofLocations = LocationClient(client, of: locations)
      for circle in ofLocations.circles { ofLocations.unregister(circle.region.identifier) }
      ofLocations.stopVisits()
      ofLocations.stopSignificantChanges()
      client.remove()
    }
  }
}

/// A number of events, which all connections of an application increase.
final class EventCount: Sendable {
  let value = Atomic<UInt64>(0)
}

/// The reason why an application is not served.
package struct AppRefusal: Error {
  package let sentence: String

  package init(_ sentence: String) { self.sentence = sentence }
}

/// The connection of a process of an application: it carries out the calls of the process's
/// clients, and sends their events.
///
/// A client gets at most 4,096 events before it finishes one, as in its own process, and a process
/// 16,384, beyond which the connection ends. An end of the connection removes the clients. Their
/// unfinished stored events then wait for the next ones.
package final class AppConnection: Sendable {
  package typealias Admission = @Sendable (AppHello) throws(AppRefusal) -> AppServices
  /// Begins to serve a program that manages apps, with a function that sends it a message.
  typealias Management =
    @Sendable (_ send: @escaping @Sendable (ManagementReply) -> Void) -> ManagementSession

  /// The most clients of a process.
  private static let maximumClients = 1024
  /// The most events that a process has not finished, also of clients that it has removed.
  private static let maximumUnfinished = 16_384
  /// The most constraints that a client ranges.
  private static let maximumRanged = 1024
  /// The most bytes of a group's name.
  private static let maximumName = 256
  /// The most bytes of a message of an application.
  private static let maximumLine = 1 << 20

  private let socket: LineSocket
  private let queue = DispatchQueue(label: "AppDaemon.connection")
  private let admit: Admission
  private let manage: Management?
  private let ended: @Sendable (AppConnection) -> Void
  private let state = Mutex(State())

  private struct State {
    var services: AppServices?
    /// Set where the first message was one of management.
    var management: ManagementSession?
    var clients: [ClientIdentifier: ServiceClient] = [:]
    var deliveries: [UInt64: ServiceDelivery] = [:]
    var latestDelivery: UInt64 = 0
    var hasEnded = false
    var isDaemonEnding = false
  }

  /// Creates the service of a connected socket.
  ///
  /// `confirm` is called with the socket before its first line is read, and returns whether the
  /// peer is who it was. `admit` returns the application's services when it introduces itself, and
  /// `ended` is called once, after its clients are removed.
  package convenience init(
    _ descriptor: Int32, confirm: @escaping LineSocket.Confirmation = { _ in true },
    admit: @escaping Admission, ended: @escaping @Sendable (AppConnection) -> Void = { _ in }
  ) {
    self.init(descriptor, confirm: confirm, admit: admit, manage: nil, ended: ended)
  }

  /// Creates the service of a connected socket, which also serves programs that manage apps.
  init(
    _ descriptor: Int32, confirm: @escaping LineSocket.Confirmation,
    admit: @escaping Admission, manage: Management?,
    ended: @escaping @Sendable (AppConnection) -> Void
  ) {
    socket = LineSocket(descriptor, maximumLine: Self.maximumLine, on: queue, confirm: confirm)
    self.admit = admit
    self.manage = manage
    self.ended = ended
  }

  /// Greets the process, and begins to serve it.
  package func start() {
    socket.start { [self] line in
      receive(line)
    } ended: { [self] in
      removeClients()
      ended(self)
    }
    send(.greeting(version: AppHello.version))
  }

  /// Ends the connection, because the daemon ends. What the process has registered stays.
  package func close() {
    state.withLock { $0.isDaemonEnding = true }
    socket.close()
  }

  private func removeClients() {
    let (clients, deliveries, services, management) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.clients = [:]
        state.deliveries = [:]
        state.services = nil
        state.management = nil
      }
      return (
        state.clients, state.deliveries, state.isDaemonEnding ? nil : state.services,
        state.management
      )
    }
    management?.end()
    for client in clients.values { client.remove() }
    for delivery in deliveries.values { delivery.finish() }
    services?.removeEndedGroups()
  }

  // MARK: Messages

  private func receive(_ line: [UInt8]) {
    let message: AppMessage
    do {
      message = try AppMessage(line: line)
    } catch {
      if let manage, let message = try? ManagementMessage(line: line),
        let session = management(manage)
      {
        return session.receive(message)
      }
      return refuse(
        "a message is not understood, in version \(AppHello.version) of the protocol: "
          + Self.reason(error))
    }
    if case .hello(let hello) = message, state.withLock({ $0.management == nil }) {
      return admit(hello)
    }
    guard let services = state.withLock({ $0.services }) else {
      return refuse("the first message must be 'hello'")
    }
    switch message {
    case .hello: break
    case .addClient(let client, let group, let isReceiving, let pacesRecordings):
      add(client, group, isReceiving, pacesRecordings, services)
    case .removeClient(let client):
      state.withLock { $0.clients.removeValue(forKey: client) }?.remove()
      services.removeEndedGroups()
    case .setReceiving(let client, let isReceiving): self[client]?.setReceiving(isReceiving)
    case .beginReceiving(let client): self[client]?.beginReceiving()
    case .acknowledge(let number): state.withLock { $0.deliveries[number] }?.acknowledge()
    case .finish(let number):
      state.withLock { $0.deliveries.removeValue(forKey: number) }?.finish()
    case .call(let number, let call): carryOut(call, services) { [self] in reply(number, $0) }
    }
  }

  /// The reason why a message is not understood, for the maker of the program.
  private static func reason(_ error: any Error) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "" : "\(path): "
    }
    return switch error {
    case DecodingError.keyNotFound(let key, let context):
      "\(place(context))'\(key.stringValue)' is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      "\(place(context))\(context.debugDescription)"
    default: "\(error)"
    }
  }

  /// Returns the session of a program that manages apps; `nil` for one that is served as an app.
  private func management(_ manage: Management) -> ManagementSession? {
    state.withLock { state in
      guard state.services == nil, !state.hasEnded else { return nil }
      let session =
        state.management
        ?? manage { [weak self] message in
          if let line = try? message.line() { self?.socket.send(line) }
        }
      state.management = session
      return session
    }
  }

  private subscript(_ client: ClientIdentifier) -> ServiceClient? {
    state.withLock { $0.clients[client] }
  }

  private func admit(_ hello: AppHello) {
    guard hello.version == AppHello.version else {
      return refuse(
        "the application speaks version \(hello.version) of the protocol, and this service version"
          + " \(AppHello.version); install the same version of both")
    }
    if let sentence = hello.refusal { return refuse(sentence) }
    do throws(AppRefusal) {
      guard state.withLock({ $0.services == nil && !$0.hasEnded }) else { return }
      let services = try admit(hello)
      state.withLock { $0.services = services }
      send(.welcome(version: AppHello.version, journal: services.manager.journal.generation))
    } catch {
      refuse(error.sentence)
    }
  }

  private func refuse(_ sentence: String) {
    send(.refused(sentence))
    socket.close()
  }

  private func add(
    _ identifier: ClientIdentifier, _ group: ClientGroup, _ isReceiving: Bool,
    _ pacesRecordings: Bool, _ services: AppServices
  ) {
    guard group.name.utf8.count <= Self.maximumName else {
      return refuse("the name of a group may have \(Self.maximumName) bytes at most")
    }
    let isRoom = state.withLock { state in
      state.clients[identifier] == nil && state.clients.count < Self.maximumClients
    }
    guard isRoom else {
      return refuse(
        "a process may have \(Self.maximumClients) clients at most, each with an identifier of its"
          + " own")
    }
    let client = services.manager.addClient(
      in: group, isReceiving: isReceiving, pacesRecordings: pacesRecordings
    ) { [weak self] delivery in
      self?.deliver(delivery, to: identifier)
    }
    let hasEnded = state.withLock { state in
      state.clients[identifier] = client
      return state.hasEnded
    }
    if hasEnded { client.remove() }
  }

  private func deliver(_ delivery: ServiceDelivery, to client: ClientIdentifier) {
    guard let event = DeliveredEvent(delivery.event) else { return delivery.complete() }
    // Under the lock, so that the numbers ascend on the socket.
    let isTooMuch = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.latestDelivery += 1
      state.services?.events.value.wrappingAdd(1, ordering: .relaxed)
      state.deliveries[state.latestDelivery] = delivery
      send(.delivery(state.latestDelivery, client, event, entry: delivery.entry))
      return state.deliveries.count == Self.maximumUnfinished + 1
    }
    guard isTooMuch else { return }
    refuse("a process may have \(Self.maximumUnfinished) unfinished events; finish some earlier")
  }

  private func reply(_ number: UInt64, _ reply: DaemonReply) { send(.reply(number, reply)) }

  private func send(_ message: DaemonMessage) {
    if let line = try? message.line() { socket.send(line) }
  }

  // MARK: Calls

  /// Throws if a client would range more than it may, or if a name that is kept is too long.
  private func check(
    _ request: BeaconRequest, of client: ServiceClient, _ services: AppServices
  ) throws(BeaconServiceError) {
    if case .requestState(let region) = request { try BeaconServiceError.check(region.identifier) }
    guard case .startRanging(let added) = request else { return }
    for request in added { try BeaconServiceError.check(request.identifier ?? "") }
    guard case .ranging(let ranged) = try services.beacons.perform(.rangingRequests, for: client),
      ranged.union(added).count > Self.maximumRanged
    else { return }
    throw .unavailable(
      "a client ranges \(Self.maximumRanged) constraints at most; stop others first")
  }

  private func carryOut(
    _ call: AppCall, _ services: AppServices,
    _ reply: @escaping @Sendable (DaemonReply) -> Void
  ) {
    let manager = services.manager
    switch call {
    case .beacons(let request, let identifier):
      guard let client = self[identifier] else { return reply(.done) }
      do throws(BeaconServiceError) {
        try check(request, of: client, services)
        reply(.beacons(try services.beacons.perform(request, for: client)))
      } catch {
        reply(.beaconsFailed(error))
      }
    case .location(let call, let identifier):
      guard let client = self[identifier] else { return reply(.done) }
      do throws(LocationServiceError) {
        if case .requestState(let circle) = call {
          try LocationServiceError.check(circle.identifier)
        }
        reply(.location(try services.locations.perform(call, for: client)))
      } catch {
        reply(.locationFailed(error))
      }
    case .beaconStatus: reply(.beaconStatus(services.beacons.status))
    case .locationStatus: reply(.locationStatus(services.locations.status))
    case .requestAuthorization(let wanted):
      manager.requestAuthorization(wanted)
      reply(.done)
    case .authorization:
      manager.checkAuthorization()
      reply(.authorization(manager.authorizationStatus))
    case .afterOutput(.beacons): services.beacons.afterOutput { reply(.done) }
    case .afterOutput(.location): services.locations.afterOutput { reply(.done) }
    case .deliveriesFinished(let service):
      Task {
        switch service {
        case .beacons: await services.beacons.deliveriesFinished()
        case .location: await services.locations.deliveriesFinished()
        }
        reply(.done)
      }
    case .keepRegistrations: manager.journal.afterWriting { reply(.done) }
    case .flush:
      // The events that are sent meanwhile are finished on this queue.
      DispatchQueue.global().async {
        manager.flush()
        reply(.done)
      }
    }
  }
}
