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
  typealias Answer = @Sendable (Relauncher.Failure?) -> Void

  private struct Program {
    let user: UInt32
    let send: @Sendable (LaunchOrder) -> Void
    /// The latest order for each app that the program has not answered.
    var orders: [AppIdentity: Order] = [:]
  }

  private struct Order {
    let id: UInt64
    let then: Answer
  }

  private let state = Mutex<(programs: [ID: Program], latest: UInt64)>(([:], 0))

  /// Registers a program of a user.
  func add(of user: UInt32, send: @escaping @Sendable (LaunchOrder) -> Void) -> ID {
    state.withLock { state in
      state.latest += 1
      state.programs[state.latest] = Program(user: user, send: send)
      return state.latest
    }
  }

  func remove(_ id: ID) {
    let orders = state.withLock { $0.programs.removeValue(forKey: id) }?.orders ?? [:]
    for order in orders.values { order.then(.init(sentence: "the session has ended")) }
  }

  /// Orders the newest session of an app's user to start the app.
  func start(_ app: AppIdentity, _ launch: AppLaunch?, then: @escaping Answer) {
    let order = state.withLock { state -> (LaunchOrder, @Sendable (LaunchOrder) -> Void)? in
      let found = state.programs.filter { $0.value.user == app.user }.max { $0.key < $1.key }
      guard let found else { return nil }
      state.latest += 1
      state.programs[found.key]?.orders[app] = Order(id: state.latest, then: then)
      return (LaunchOrder(id: state.latest, app: app.identifier, launch: launch), found.value.send)
    }
    guard let (order, send) = order else {
      return then(
        Relauncher.Failure(
          sentence: "no program of the session of user \(app.user) starts apps; that user starts "
            + "one by systemctl --user enable --now beaconscan-session", awaitsSession: true))
    }
    send(order)
  }

  func answer(_ failure: String?, to order: UInt64, by id: ID) {
    let answered = state.withLock { state -> Order? in
      guard let found = state.programs[id]?.orders.first(where: { $0.value.id == order }) else {
        return nil
      }
      return state.programs[id]?.orders.removeValue(forKey: found.key)
    }
    answered?.then(failure.map { .init(sentence: $0) })
  }
}
