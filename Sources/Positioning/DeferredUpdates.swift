package import Clocks

/// The reason that deferred updates ended early.
package enum DeferredUpdatesError: Error, Hashable, Sendable, Codable {
  /// The source cannot defer, or the distance or time is not a number above 0.
  case failed
  /// Standard location updates are off or paused.
  case notUpdatingLocation
  /// The desired accuracy is neither the best nor that for navigation.
  case accuracyTooLow
  /// A distance filter is set.
  case distanceFiltered
  /// The client ended the deferral or requested another one.
  case canceled
}

/// Fixes that are held until the receiver has moved a distance or a time has passed.
///
/// Each request ends exactly once, by ``Event/finish(_:)``, after the delivery of all held fixes in
/// order. When ``capacity`` fixes are held, they are delivered, and the request continues.
package struct DeferredUpdates: Sendable {
  package enum Event: Hashable, Sendable {
    case deliver([Fix])
    /// The end of one request, without an error if the distance or the time was reached.
    case finish(DeferredUpdatesError?)
  }

  /// The client's settings that deferral depends on.
  package struct Conditions: Hashable, Sendable {
    package var isUpdating: Bool
    package var accuracy: AccuracyClass
    /// Meters; `nil` delivers each fix.
    package var distanceFilter: Double?
    /// Whether a source delivers fixes continuously.
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
    /// The place at the request, or the first fix after it.
    var origin: Coordinate?
  }

  private var conditions: Conditions
  private var request: Request?
  private var held: [Fix] = []
  private var latest: Coordinate?

  /// The greatest number of fixes held: 1,024, of 240 bytes each.
  package static let capacity = 1024

  package init(_ conditions: Conditions) { self.conditions = conditions }

  package var isDeferring: Bool { request != nil }

  /// Starts to hold fixes, after the end of a current request, and returns both its end and an
  /// error that ends this one at once.
  ///
  /// - Parameters:
  /// - distance: Meters in a straight line from the current place; the greatest number for none.
  /// - timeout: Seconds; the greatest number for no limit.
  /// - now: The time of the request; if `nil`, the timeout starts with the next fix or time.
  package mutating func allow(
    untilTraveled distance: Double, timeout: Double, at now: MonotonicTime?
  ) -> [Event] {
    let events = end(.canceled)
    // NaN fails, too.
    if let error = conditions.error ?? (distance > 0 && timeout > 0 ? nil : .failed) {
      return events + [.finish(error)]
    }
    // A timeout of more than 100 years is no limit.
    let limit = timeout < 3.2e9 ? timeout : nil
    request = Request(distance: distance, timeout: limit, origin: latest)
    if let now { startTimeout(at: now) }
    return events
  }

  package mutating func disallow() -> [Event] { end(.canceled) }

  /// Receives new settings, which may end the request.
  package mutating func set(_ conditions: Conditions) -> [Event] {
    self.conditions = conditions
    return conditions.error.map { end($0) } ?? []
  }

  /// Receives a fix for the client at a moment that may be later than the fix.
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

  /// The time at which ``advance(to:)`` ends the request.
  package var deadline: MonotonicTime? { request?.deadline }

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
