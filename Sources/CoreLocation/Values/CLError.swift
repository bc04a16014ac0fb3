public import Foundation

/// An error of this module: an `NSError` of the domain ``kCLErrorDomain``. Such an `NSError` with a
/// known code can be cast and caught as `CLError`, and vice versa.
public struct CLError: _BridgedStoredNSError, Sendable {
  /// The Foundation error.
  public let _nsError: NSError

  /// Wraps an error of the domain ``kCLErrorDomain``.
  public init(_nsError error: NSError) { _nsError = error is Described ? error : Described(error) }

  /// Creates an error with its reason and further information.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    _nsError = Described(NSError(domain: kCLErrorDomain, code: code.rawValue, userInfo: userInfo))
  }

  /// The reason; ``Code/locationUnknown`` for an unknown number.
  public var code: Code { Code(rawValue: _nsError.code) ?? .locationUnknown }

  /// The domain: ``kCLErrorDomain``.
  public static var _nsErrorDomain: String { kCLErrorDomain }

  /// Further information, with one sentence that describes the error.
  public var errorUserInfo: [String: Any] {
    var info = _nsError.userInfo
    if info[NSLocalizedDescriptionKey] == nil { info[NSLocalizedDescriptionKey] = code.sentence }
    return info
  }

  /// Further information.
  public var userInfo: [String: Any] { _nsError.userInfo }

  /// One sentence that describes the error.
  public var localizedDescription: String { _nsError.localizedDescription }

  /// The region that is monitored instead of the requested one.
  public var alternateRegion: CLRegion? {
    _nsError.userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion
  }

  /// Hashes the domain and the code, because on Linux `NSError.hash` never returns (Swift 6.3.1).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(_nsError.domain)
    hasher.combine(_nsError.code)
  }

  /// An `NSError` that describes itself by its code and equals a plain `NSError`.
  private final class Described: NSError, @unchecked Sendable {
    // Sendable: it adds nothing to NSError, which is Sendable.
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
  // The casts of the language use this conformance, even on Linux.

  /// The class that errors are cast to and from.
  public typealias _ObjectiveCType = NSError

  /// The Foundation error.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Casts an error whose type was checked before.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CLError?) {
    result = CLError(_nsError: source)
  }

  /// Casts an error of the domain ``kCLErrorDomain`` whose code is known.
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

  /// Casts an error that must exist.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CLError {
    source.map { CLError(_nsError: $0) } ?? CLError(.locationUnknown)
  }
}

extension CLError {
  /// The location is not known now; it may become known.
  public static var locationUnknown: Code { .locationUnknown }
  /// The app is not authorized to use location services.
  public static var denied: Code { .denied }
  /// The network is not available or has failed.
  public static var network: Code { .network }
  /// The heading cannot be determined.
  public static var headingFailure: Code { .headingFailure }
  /// The app is not authorized to monitor regions.
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  /// A region cannot be monitored.
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  /// Monitoring could not start at once.
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  /// Events of a region may come late.
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  /// A geocoder found nothing.
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  /// A geocoder found only a part of the place.
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  /// A geocoder was canceled.
  public static var geocodeCanceled: Code { .geocodeCanceled }
  /// Updates cannot be deferred.
  public static var deferredFailed: Code { .deferredFailed }
  /// Updates were not deferred, because location updates are not started.
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  /// Updates cannot be deferred at this accuracy.
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  /// Updates cannot be deferred with a distance filter.
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  /// Deferred updates were canceled or requested again.
  public static var deferredCanceled: Code { .deferredCanceled }
  /// Beacons cannot be ranged here, or not now.
  public static var rangingUnavailable: Code { .rangingUnavailable }
  /// Ranging failed.
  public static var rangingFailure: Code { .rangingFailure }
  /// The user declined the request, or it was not necessary.
  public static var promptDeclined: Code { .promptDeclined }
  /// Past locations cannot be read.
  public static var historicalLocationError: Code { .historicalLocationError }
}
