// A trip by live updates: moving and resting, and why there is no location.
import CoreLocation

public actor LiveTrip {
  public enum State: String, Sendable { case waiting, moving, resting }

  public private(set) var states: [State] = [.waiting]
  public private(set) var meters: CLLocationDistance = 0
  public private(set) var count = 0
  public private(set) var problems: [String] = []
  private var last: CLLocation?
  private let upload: @Sendable (CLLocation) async -> Void

  public init(upload: @escaping @Sendable (CLLocation) async -> Void = { _ in }) {
    self.upload = upload
  }

  /// Goes on until the device rests, the way is long enough, or the task is cancelled.
  public func follow(
    _ updates: CLLocationUpdate.Updates = CLLocationUpdate.liveUpdates(.fitness),
    until goal: CLLocationDistance = .infinity
  ) async throws {
    for try await update in updates {
      if Task.isCancelled { break }
      if let problem = Self.problem(update) { problems.append(problem) }
      if update.stationary {
        set(.resting)
        break
      }
      guard let location = update.location else { continue }
      set(.moving)
      count += 1
      if count % 100 == 1 { await upload(location) }
      if let last { meters += location.distance(from: last) }
      last = location
      if meters >= goal { break }
    }
  }

  private func set(_ state: State) {
    if states.last != state { states.append(state) }
  }

  private static func problem(_ update: CLLocationUpdate) -> String? {
    if update.authorizationDenied { return "denied" }
    if update.authorizationRestricted { return "restricted" }
    if update.insufficientlyInUse { return "not in use" }
    if update.accuracyLimited { return "approximate" }
    return nil
  }
}
