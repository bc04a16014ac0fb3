package import Clocks

/// Why deferred updates ended without the distance or the time.
package enum DeferredUpdatesError: Error, Hashable, Sendable, Codable {
  /// The source cannot defer, or the distance or the time is not a number above 0.
  case failed
  /// Standard location updates are off or paused.
  case notUpdatingLocation
  /// The desired accuracy is not the best one, nor that for navigation.
  case accuracyTooLow
  /// The distance filter is not off.
  case distanceFiltered
  /// The client ended it, or requested another one.
  case canceled
}

/// Fixes that are held back until the receiver has moved a distance or until a time has passed.
///
/// Each request ends exactly once, by an ``Event/finish(_:)``. The fixes that were held are always delivered before
/// it, in their order. At most ``capacity`` fixes are held: when there are as many, they are delivered, and the
/// request goes on.
package struct DeferredUpdates: Sendable {
  /// What the client receives, in this order.
  package enum Event: Hashable, Sendable {
    case deliver([Fix])
    /// The end of one request: without an error if the distance or the time was reached.
    case finish(DeferredUpdatesError?)
  }

  /// What a client has set, as far as deferral depends on it.
  package struct Conditions: Hashable, Sendable {
    package var isUpdating: Bool
    package var accuracy: AccuracyClass
    /// Meters; `nil` where each fix is delivered.
    package var distanceFilter: Double?
    /// Whether a source works that delivers fixes without pause.
    package var isAvailable: Bool

    package init(
      isUpdating: Bool, accuracy: AccuracyClass = .best, distanceFilter: Double? = nil,
      isAvailable: Bool = true
    ) {
      self.isUpdating = isUpdating
      self.accuracy = accuracy
      self.distanceFilter = distanceFilter
      self.isAvailable = isAvailable
    }

    /// Why updates cannot be deferred.
    package var error: DeferredUpdatesError? {
      if !isUpdating { return .notUpdatingLocation }
      if accuracy > .best { return .accuracyTooLow }
      if distanceFilter != nil { return .distanceFiltered }
      return isAvailable ? nil : .failed
    }
  }

  private struct Request {
    /// Meters from ``origin``.
    var distance: Double
    /// Seconds; `nil` for no limit, or where ``deadline`` is known.
    var timeout: Double?
    var deadline: MonotonicTime?
    /// Where the receiver was at the request; the first fix after it where that is not known.
    var origin: Coordinate?
  }

  private var conditions: Conditions
  private var request: Request?
  private var held: [Fix] = []
  private var latest: Coordinate?

  /// The greatest number of fixes held: 1,024, of 240 bytes each.
  package static let capacity = 1024

  package init(_ conditions: Conditions) { self.conditions = conditions }

  /// Whether a request is under way.
  package var isDeferring: Bool { request != nil }

  /// Starts to hold fixes back; a request that is under way ends as canceled.
  ///
  /// - Parameters:
  ///   - distance: Meters in a straight line from the current place; the greatest number for no limit.
  ///   - timeout: Seconds; the greatest number for no limit.
  ///   - now: The time of the request; `nil` where it is not known: then the timeout begins with the next fix or time.
  /// - Returns: What the client receives: the end of the request before, and the error that ends this one at once.
  package mutating func allow(
    untilTraveled distance: Double, timeout: Double, at now: MonotonicTime?
  ) -> [Event] {
    let events = end(.canceled)
    // A distance or a time that is not a number fails as well.
    if let error = conditions.error ?? (distance > 0 && timeout > 0 ? nil : .failed) {
      return events + [.finish(error)]
    }
    // Longer than 100 years is no limit.
    let limit = timeout < 3.2e9 ? timeout : nil
    request = Request(distance: distance, timeout: limit, origin: latest)
    if let now { startTimeout(at: now) }
    return events
  }

  /// Ends the request that is under way, if there is one.
  package mutating func disallow() -> [Event] { end(.canceled) }

  /// Receives what the client has set anew: a request that it rules out ends.
  package mutating func set(_ conditions: Conditions) -> [Event] {
    self.conditions = conditions
    return conditions.error.map { end($0) } ?? []
  }

  /// Receives a fix that the client would get without deferral, at a moment that may be later than its time.
  package mutating func receive(_ fix: Fix, at now: MonotonicTime? = nil) -> [Event] {
    latest = fix.place
    guard let request else { return [.deliver([fix])] }
    held.append(fix)
    let origin = request.origin ?? fix.place
    self.request?.origin = origin
    if origin.distance(to: fix.place) >= request.distance { return end(nil) }
    let events = advance(to: now ?? fix.time)
    if !events.isEmpty || held.count < Self.capacity { return events }
    return release()
  }

  /// When ``advance(to:)`` ends the request.
  package var deadline: MonotonicTime? { request?.deadline }

  /// Receives the time.
  package mutating func advance(to now: MonotonicTime) -> [Event] {
    startTimeout(at: now)
    guard let deadline, now >= deadline else { return [] }
    return end(nil)
  }

  private mutating func startTimeout(at now: MonotonicTime) {
    guard let timeout = request?.timeout else { return }
    request?.timeout = nil
    request?.deadline = now.advanced(bySeconds: timeout)
  }

  private mutating func end(_ error: DeferredUpdatesError?) -> [Event] {
    guard request != nil else { return [] }
    request = nil
    return release() + [.finish(error)]
  }

  private mutating func release() -> [Event] {
    defer { held = [] }
    return held.isEmpty ? [] : [.deliver(held)]
  }
}
