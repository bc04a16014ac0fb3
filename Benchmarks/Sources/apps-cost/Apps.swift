import Foundation
import Glibc
import Logging
import Regions
import ServiceCore
import Synchronization

/// The apps of a measurement, each with a connection. After each entry that all have received, the
/// times of their events are written to standard output.
struct Apps {
  private let clients: [BeaconClient]

  init(at socket: String, count: Int, regions: Int) throws {
    let entries = Entries(apps: count) { times in
      try? FileHandle.standardOutput.write(
        contentsOf: unsafe times.withUnsafeBytes { unsafe Data($0) })
    }
    clients = (0..<count).compactMap { number in
      let link = DaemonLink(
        AppHello(), patience: (greeting: 600, answer: 600), logger: Logger(label: "app")
      ) {
        DaemonLink.connect(to: socket)
      }
      guard link.open() else { return nil }
      var own = settings(nil)
      own.daemon = link
      let manager = ServiceManager(own)
      let client = manager.addClient(pacesRecordings: false, receive: entries.receiver(number))
      return BeaconClient(client, of: BeaconService(manager, scanner: nil))
    }
    for client in clients {
      for number in 0..<regions { try client.register(Air.region(number)) }
    }
  }

  func run() throws {
    try FileHandle.standardOutput.write(contentsOf: Data([10]))
    withExtendedLifetime(clients) { _ = pause() }
  }
}

/// The entries that apps have received.
final class Entries: Sendable {
  private let state: Mutex<State>
  private let received: @Sendable ([UInt64]) -> Void

  private struct State {
    var times: [UInt64]
    var count = 0
    var rounds = 0
  }

  /// `received` is called with the time of each app's event, when all have received one.
  init(apps: Int, received: @escaping @Sendable ([UInt64]) -> Void) {
    state = Mutex(State(times: Array(repeating: 0, count: apps)))
    self.received = received
  }

  var rounds: Int { state.withLock { $0.rounds } }

  func receiver(_ app: Int) -> @Sendable (ServiceDelivery) -> Void {
    { [self] delivery in
      let now = nanoseconds(CLOCK_MONOTONIC)
      if case .region(let event)? = delivery.event as? BeaconEvent,
        event.transition.change == .enter
      {
        let all = state.withLock { state -> [UInt64]? in
          state.times[app] = now
          state.count += 1
          guard state.count == state.times.count else { return nil }
          state.count = 0
          state.rounds += 1
          return state.times
        }
        if let all { received(all) }
      }
      delivery.complete()
    }
  }
}
