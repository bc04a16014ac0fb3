package import ServiceCore
import Synchronization

/// A program to start in its user's session.
package struct LaunchOrder: Codable, Hashable, Sendable {
  /// A number that no other order has.
  package let id: UInt64
  /// The app's ``AppIdentity/identifier``.
  package let app: String
  package let launch: AppLaunch?
}

/// The programs that start apps in their users' sessions, `beaconscan session`, each registered on
/// its connection.
final class SessionPrograms: Sendable {
  typealias ID = UInt64
  typealias Answer = @Sendable (String?) -> Void

  private struct Program {
    let user: UInt32
    let send: @Sendable (LaunchOrder) -> Void
    var orders: [UInt64: Answer] = [:]
  }

  private let state = Mutex<(programs: [ID: Program], latest: UInt64)>(([:], 0))

  /// Registers a program of a user, outside of sandboxes: it starts programs outside of them.
  func add(_ program: AppIdentity, send: @escaping @Sendable (LaunchOrder) -> Void) -> ID? {
    guard program.strength != .sandbox else { return nil }
    return state.withLock { state in
      state.latest += 1
      state.programs[state.latest] = Program(user: program.user, send: send)
      return state.latest
    }
  }

  func remove(_ id: ID) {
    let orders = state.withLock { $0.programs.removeValue(forKey: id) }?.orders ?? [:]
    for answer in orders.values { answer("the session has ended") }
  }

  /// Orders the newest session of an app's user to start the app.
  func start(_ app: AppIdentity, _ launch: AppLaunch?, then: @escaping Answer) {
    let order = state.withLock { state -> (LaunchOrder, @Sendable (LaunchOrder) -> Void)? in
      let found = state.programs.filter { $0.value.user == app.user }.max { $0.key < $1.key }
      guard let found else { return nil }
      state.latest += 1
      state.programs[found.key]?.orders[state.latest] = then
      return (LaunchOrder(id: state.latest, app: app.identifier, launch: launch), found.value.send)
    }
    guard let (order, send) = order else {
      return then(
        "no program of the session of user \(app.user) starts apps; that user starts one by "
          + "systemctl --user enable --now beaconscan-session")
    }
    send(order)
  }

  func answer(_ failure: String?, to order: UInt64, by id: ID) {
    state.withLock { $0.programs[id]?.orders.removeValue(forKey: order) }?(failure)
  }
}
