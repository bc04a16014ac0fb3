public import Foundation

/// An error of this module: an `NSError` of the domain ``kCLErrorDomain``.
///
/// As on Apple's systems, an `NSError` of that domain with a known code can be cast and caught as
/// `CLError`, and a `CLError` as `NSError`.
public struct CLError: _BridgedStoredNSError, Sendable {
  /// The error as Foundation knows it.
  public let _nsError: NSError

  /// Wraps an error.
  ///
  /// - Parameter error: An error of the domain ``kCLErrorDomain``.
  public init(_nsError error: NSError) {
    _nsError = error is Described ? error : Described(error)
  }

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: What went wrong.
  ///   - userInfo: What else is to be told of it.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    _nsError = Described(
      NSError(domain: kCLErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// What went wrong; ``Code/locationUnknown`` for a number that is no code.
  public var code: Code { Code(rawValue: _nsError.code) ?? .locationUnknown }

  /// The domain: ``kCLErrorDomain``.
  public static var _nsErrorDomain: String { kCLErrorDomain }

  /// What else is told of it, with one sentence that describes it.
  public var errorUserInfo: [String: Any] {
    var info = _nsError.userInfo
    if info[NSLocalizedDescriptionKey] == nil { info[NSLocalizedDescriptionKey] = code.sentence }
    return info
  }

  /// What else is told of it.
  public var userInfo: [String: Any] { _nsError.userInfo }

  /// One sentence that says what went wrong.
  public var localizedDescription: String { _nsError.localizedDescription }

  /// The region that is monitored instead of the one that was asked for.
  public var alternateRegion: CLRegion? {
    _nsError.userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion
  }

  /// Feeds what makes two errors equal, but for the user info.
  ///
  /// - Parameter hasher: What is fed. `NSError.hash` is not asked: on Linux it never returns
  ///   (Foundation of Swift 6.3.1).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(_nsError.domain)
    hasher.combine(_nsError.code)
  }

  /// An `NSError` that describes itself by its code and yet equals one that does not.
  private final class Described: NSError, @unchecked Sendable {
    // Sendable: it adds nothing to NSError, which says that it is.
    init(_ error: NSError) {
      super.init(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    required init?(coder: NSCoder) { super.init(coder: coder) }

    override var hash: Int {
      var hasher = Hasher()
      hasher.combine(domain)
      hasher.combine(code)
      return hasher.finalize()
    }

    override var localizedDescription: String {
      guard userInfo[NSLocalizedDescriptionKey] == nil, domain == kCLErrorDomain,
        let code = Code(rawValue: code)
      else { return super.localizedDescription }
      return code.sentence
    }
  }
}

extension CLError: _ObjectiveCBridgeable {
  // The casts of the language look at this conformance, on Linux too.

  /// The class that it is cast to and from.
  public typealias _ObjectiveCType = NSError

  /// The error as Foundation knows it.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Casts where the type was checked before.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CLError?) {
    result = CLError(_nsError: source)
  }

  /// Casts an error of our domain whose code is known.
  @discardableResult
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CLError?
  ) -> Bool {
    guard source.domain == kCLErrorDomain, Code(rawValue: source.code) != nil else {
      result = nil
      return false
    }
    result = CLError(_nsError: source)
    return true
  }

  /// Casts what must be there.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CLError {
    source.map { CLError(_nsError: $0) } ?? CLError(.locationUnknown)
  }
}

extension CLError {
  /// No location now; it may come.
  public static var locationUnknown: Code { .locationUnknown }
  /// Location services are refused to this app.
  public static var denied: Code { .denied }
  /// The network was not there, or failed.
  public static var network: Code { .network }
  /// The heading cannot be found.
  public static var headingFailure: Code { .headingFailure }
  /// Monitoring regions is refused to this app.
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  /// A region cannot be monitored.
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  /// Monitoring could not start at once.
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  /// Events of a region may come late.
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  /// A geocoder found nothing.
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  /// A geocoder found only a part.
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  /// A geocoder was stopped.
  public static var geocodeCanceled: Code { .geocodeCanceled }
  /// Updates cannot be deferred.
  public static var deferredFailed: Code { .deferredFailed }
  /// Updates were not deferred, as locations are not updated.
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  /// Updates cannot be deferred at this accuracy.
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  /// Updates cannot be deferred with a distance filter.
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  /// Deferred updates were stopped, or asked for anew.
  public static var deferredCanceled: Code { .deferredCanceled }
  /// Beacons cannot be ranged here, or not now.
  public static var rangingUnavailable: Code { .rangingUnavailable }
  /// Ranging failed.
  public static var rangingFailure: Code { .rangingFailure }
  /// The user was asked and refused.
  public static var promptDeclined: Code { .promptDeclined }
  /// Past locations cannot be read.
  public static var historicalLocationError: Code { .historicalLocationError }
}
