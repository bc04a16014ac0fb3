import Dispatch
package import Scanning
import ServiceCore
import Synchronization

/// Starts apps that have events and no process.
///
/// The first attempt is made at once. Later ones follow while the app has not processed its events:
/// an app that ends without having done so is started again after a pause.
final class Relauncher: Sendable {
  /// The state of an app.
  enum Need {
    /// No events wait.
    case nothing
    /// Events wait, and a process of the app is connected.
    case served
    /// Events wait, and a process of the app that may connect runs.
    case connecting
    /// Events wait, and the app does not run.
    case launch(AppLaunch?)
  }

  /// The reason why an app was not started.
  struct Failure: Equatable {
    let sentence: String
    /// Whether the attempt succeeds when the user has a program that starts apps.
    var awaitsSession = false
  }

  /// Starts an app, then passes the reason why not, or `nil`.
  typealias Start =
    @Sendable (AppIdentity, AppLaunch?, _ then: @escaping @Sendable (Failure?) -> Void) -> Void

  /// The seconds between the attempts; the last ones are repeated.
  static let pauses = [10.0, 60, 600]
  /// The seconds between two looks at an app that may connect.
  private static let connectingPause = 1.0

  private struct Entry {
    var report = RelaunchReport()
    var awaitsSession = false
    var latest: DispatchTime?
    /// The number of the attempt that is scheduled; `nil` for none.
    var scheduled: UInt64?
  }

  private let queue = DispatchQueue(label: "AppDaemon.relaunch")
  private let pauses: [Double]
  private let need: @Sendable (AppIdentity) -> Need
  private let start: Start
  private let end: @Sendable (AppIdentity) -> Void
  private let state = Mutex<(entries: [AppIdentity: Entry], latest: UInt64)>(([:], 0))

  /// Creates a relauncher. `need` returns an app's state, and `end` is called when nothing waits.
  init(
    pauses: [Double] = pauses, need: @escaping @Sendable (AppIdentity) -> Need,
    start: @escaping Start, end: @escaping @Sendable (AppIdentity) -> Void
  ) {
    self.pauses = pauses
    self.need = need
    self.start = start
    self.end = end
  }

  /// Looks at an app whose state may have changed.
  func update(_ app: AppIdentity) {
    queue.async { [weak self] in self?.look(at: app) }
  }

  /// Makes the next attempt for an app at once if the latest one failed for want of a session.
  func sessionBegan(for app: AppIdentity) {
    queue.async { [weak self] in
      self?.state.withLock { state in
        if state.entries[app]?.awaitsSession == true { state.entries[app] = nil }
      }
      self?.look(at: app)
    }
  }

  /// The attempts for the apps whose events wait.
  var reports: [AppIdentity: RelaunchReport] {
    state.withLock { $0.entries.mapValues(\.report) }
  }

  private func look(at app: AppIdentity) {
    switch need(app) {
    case .nothing:
      state.withLock { $0.entries[app] = nil }
      end(app)
    case .served:
      state.withLock { state in
        state.entries[app]?.scheduled = nil
        state.entries[app]?.report.next = nil
      }
    case .connecting: schedule(app, after: Self.connectingPause)
    case .launch: schedule(app)
    }
  }

  private func schedule(_ app: AppIdentity, after least: Double = 0) {
    let attempt = state.withLock { state -> (number: UInt64, seconds: Double)? in
      var entry = state.entries[app] ?? Entry()
      guard entry.scheduled == nil else { return nil }
      let attempts = entry.report.attempts
      let pause = attempts == 0 ? 0 : pauses[min(attempts, pauses.count) - 1]
      let since = entry.latest.map {
        Double(
          DispatchTime.now().uptimeNanoseconds
            - $0.uptimeNanoseconds) / 1e9
      }
      let seconds = max(least, pause - (since ?? pause))
      state.latest += 1
      entry.scheduled = state.latest
      entry.report.next = WallClockTime.now.advanced(bySeconds: seconds)
      state.entries[app] = entry
      return (state.latest, seconds)
    }
    guard let attempt else { return }
    queue.asyncAfter(deadline: .now() + attempt.seconds) { [weak self] in
      self?.attempt(attempt.number, to: app)
    }
  }

  private func attempt(_ number: UInt64, to app: AppIdentity) {
    let isCurrent = state.withLock { state in
      guard state.entries[app]?.scheduled == number else { return false }
      state.entries[app]?.scheduled = nil
      return true
    }
    guard isCurrent else { return }
    guard case .launch(let launch) = need(app) else { return look(at: app) }
    let attempts = state.withLock { state -> Int? in
      state.entries[app]?.report.attempts += 1
      state.entries[app]?.latest = .now()
      return state.entries[app]?.report.attempts
    }
    start(app, launch) { [weak self] failure in
      self?.state.withLock { state in
        // The answer to an earlier attempt says nothing about the latest one.
        guard state.entries[app]?.report.attempts == attempts else { return }
        state.entries[app]?.report.failure = failure?.sentence
        state.entries[app]?.awaitsSession = failure?.awaitsSession == true
      }
    }
    schedule(app)
  }
}

/// The attempts to start an app whose events wait.
package struct RelaunchReport: Codable, Hashable, Sendable {
  package var attempts = 0
  /// The time of the next attempt; `nil` while a process of the app is connected.
  package var next: WallClockTime?
  /// The reason why the latest attempt failed, as a sentence.
  package var failure: String?
}
